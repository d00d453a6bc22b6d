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
