-- case: recursive_numbers
-- values: n
-- row: 1
-- row: 2
-- row: 3
with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) select n from t

-- case: recursive_path
-- values: c
-- row: 1 | 1 ; why 0 = 1 ; c 0 = conc@1
-- row: 2 | 3 ; why 0 = 1 ; why 1 = 2 ; c 0 = conc@1 ; c 1 = conc@2
-- row: 3 | 7 ; why 0 = 1 ; why 1 = 2, 3 ; c 0 = conc@1 ; c 1 = conc@2, conc@3
with recursive t as (
    select id, conc as c from run where id = 1
    union all
    select r.id, t.c + r.conc from t join run r on r.id = t.id + 1 where r.id < 4
)
select id, c from t

-- case: recursive_columns_change_places
-- values: a, b
-- row: 1 | a | None ; why 0 = 1 ; a 0 = name@1
-- row: 2 | None | a ; why 0 = 1 ; why 1 = 2 ; b 0 = name@1
-- row: 3 | a | None ; why 0 = 1 ; why 1 = 2, 3 ; a 0 = name@1
with recursive t as (
    select id, name as a, null::varchar as b from host where id = 1
    union all
    select r.id, t.b, t.a from t join run r on r.id = t.id + 1 where r.id < 4
)
select id, a, b from t

-- case: recursive_duplicates_have_their_own_paths
-- values: d
-- row: 1 | 0 ; why 0 = 1
-- row: 2 | 0 ; why 0 = 2
-- row: 9 | 1 ; why 0 = 1
-- row: 9 | 1 ; why 0 = 2
with recursive t as (
    select id, 0 as d from host where id < 3 union all select 9, d + 1 from t where d = 0
)
select id, d from t

-- case: recursive_over_cte_then_group
-- values: s
-- row: 1 | 3 ; why 0 = 1 ; why 1 = 2, 3 ; s 1 = id@2, id@3
-- row: 4 | 3 ; why 0 = 4 ; why 1 = 2, 3 ; s 1 = id@2, id@3
with recursive w as (select id from run where id in (1, 4)),
t as (
    select id, 0 as d from w
    union all
    select t.id, coalesce(h.id - 1, d + 1) from t left join host h on h.id = t.d + 2 where d < 2
)
select id, sum(d)::integer as s from t group by id

-- case: recursive_with_subqueries
-- values: x
-- row: 2 | 20 ; why 0 = 2 ; x 0 = tput@2
-- row: 3 | 28 ; why 0 = 2 ; why 1 = 2 ; why 2 = 2 ; x 0 = tput@2 ; x 1 = gpus@2
-- row: 4 | 29 ; why 0 = 2 ; why 1 = 2, 3 ; why 2 = 2, 3 ; x 0 = tput@2 ; x 1 = gpus@2, gpus@3
with recursive t as (
    select id, tput as x from run where id = 2
    union all
    select id + 1, (select max(h.gpus) + t.x from host h where h.id = t.id) from t
    where id < 4 and exists (select 1 from feed.sample s where s.id = t.id)
)
select id, x from t

-- case: recursive_anchor_of_nothing
-- values: n
-- row: 0
with recursive t as (
    select id from run where conc > 9 union all select r.id from t join run r on r.id = t.id + 1
)
select count(*) as n from t

-- case: recursive_union_over_a_cycle
-- values: id
-- row: 1 ; why 0 = 1 ; why 1 = 1, 2, 3 ; id 0 = id@1 ; id 1 = id@1
-- row: 2 ; why 0 = 1 ; why 1 = 1, 2, 3 ; id 1 = id@2
-- row: 3 ; why 0 = 1 ; why 1 = 1, 2, 3 ; id 1 = id@3
with recursive t as (select id from host where id = 1 union select h.id from t join host h on h.id = t.id % 3 + 1)
select id from t

-- case: recursive_union_of_two_paths
-- values: n, c
-- row: 1 | 1 ; why 0 = 1 ; n 0 = id@1 ; c 0 = conc@1
-- row: 4 | 1 ; why 0 = 4 ; n 0 = id@4 ; c 0 = conc@4
-- row: 3 | 1 ; why 0 = 1, 4 ; why 1 = 3 ; n 1 = id@3 ; c 0 = conc@1, conc@4
with recursive t(n, c) as (
    select id, conc from run where id in (1, 4) union select h.id, t.c from t join host h on h.gpus = t.c
)
select n, c from t

-- case: recursive_union_of_nulls
-- values: a, b
-- row: b | None ; why 0 = 5 ; a 0 = host@5
-- row: None | b ; why 0 = 5 ; b 0 = host@5
-- row: None | None ; why 0 = 6 ; a 0 = host@6 ; b 0 = host@6
with recursive t as (select host as a, null::varchar as b from run where id > 4 union select t.b, t.a from t)
select a, b from t

-- case: recursive_union_without_evidence
-- values: n
-- row: 1
-- row: 2
-- row: 3
with recursive t as (select 1 as n union select n % 3 + 1 from t) select n from t

-- case: recursive_union_keeps_rows_without_a_partner
-- values: n
-- row: 1
-- row: 2 ; why 0 = 1 ; n 0 = gpus@1
-- row: 3 ; why 0 = 1, 2 ; n 0 = gpus@1, gpus@2
-- row: 4 ; why 0 = 1, 2, 3 ; n 0 = gpus@1, gpus@2, gpus@3
-- row: None ; why 0 = 1, 2, 3 ; n 0 = gpus@1, gpus@2, gpus@3
with recursive t as (
    select 1 as n union select t.n + h.gpus // h.gpus from t left join host h on h.id = t.n
)
select n from t

-- case: recursive_union_read_twice
-- values: n
-- row: 1 | 2 ; why 0 = 1 ; why 1 = 2 ; n 0 = *@1 ; n 1 = *@2
-- row: 2 | 1 ; why 0 = 1 ; why 1 = 2 ; n 0 = *@1 ; n 1 = *@2
with recursive t as (
    select id from host where id = 1 union select r.id from run r semi join t on r.id = t.id + 1 where r.id < 3
)
select a.id, count(*) as n from t a join t b on b.id >= a.id group by a.id
