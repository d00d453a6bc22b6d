-- case: comma_before_right_join
-- values: r
-- row: 1 | 1 ; why 0 = 1 ; why 1 = 1 ; why 2 = 1 ; r 1 = id@1
-- row: 1 | 1 ; why 0 = 1 ; why 1 = 1 ; why 2 = 2 ; r 1 = id@1
-- row: 1 | 2 ; why 0 = 1 ; why 1 = 2 ; why 2 = 3 ; r 1 = id@2
-- row: 1 | 4 ; why 0 = 1 ; why 1 = 4 ; why 2 = 4 ; r 1 = id@4
-- row: 1 | 5 ; why 0 = 1 ; why 1 = 5 ; why 2 = 5 ; r 1 = id@5
-- row: 1 | None ; why 0 = 1 ; why 2 = 6
select h.id, r.id as r from host h, run r right join feed.sample s on s.run_id = r.id where h.id = 1

-- case: comma_after_full_join_with_a_subquery
-- values: k
-- row: 4 | 2 ; why 0 = 4 ; why 1 = 2 ; why 2 = 2 ; why 3 = 4 ; k 2 = id@2
-- row: 5 | 2 ; why 0 = 5 ; why 1 = 2 ; why 2 = 2 ; why 3 = 5 ; k 2 = id@2
select r.id, g.id as k from run r full join host h on h.name = r.host, host g
where g.id = 2 and h.id = 2 and r.id in (select run_id from feed.sample)

-- case: commas_on_both_sides_of_a_right_join
-- values: a
-- row: 1 | 3 | 2 ; why 0 = 1 ; why 2 = 3 ; why 3 = 2 ; a 0 = id@1
select a.id as a, b.id as b, c.id as c
from host a, run r right join host b on r.id = b.id + 5, host c
where a.id = 1 and b.id = 3 and c.id = 2

-- case: comma_join_of_empty_side
-- values: n
-- row: 0
select count(*) as n from host h, run r right join feed.sample s on s.run_id = r.id where s.latency > 100

-- case: parenthesised_join
-- values: k
-- row: 4 | 4 ; why 0 = 4 ; why 1 = 2 ; why 2 = 4 ; k 2 = id@4
-- row: 5 | 5 ; why 0 = 5 ; why 1 = 2 ; why 2 = 5 ; k 2 = id@5
select r.id, s.id as k
from (run r join host h on h.name = r.host) left join feed.sample s on s.run_id = r.id
where h.id = 2

-- case: parenthesised_join_on_the_right
-- values: i
-- row: a | 3 ; why 0 = 1 ; why 1 = 3 ; why 2 = 4 ; i 1 = id@3
-- row: b | None ; why 0 = 2
-- row: c | None ; why 0 = 3
select h.name, r.id as i
from host h left join (run r join feed.sample s on s.id = r.conc) on r.host = h.name and r.conc = 4

-- case: from_first_in_parentheses
-- values: v
-- row: 1 ; why 0 = 1 ; why 1 = 1 ; v 0 = id@1
-- row: 2 ; why 0 = 2 ; why 1 = 2 ; v 0 = id@2
-- row: 3 ; why 0 = 3 ; why 1 = 3 ; v 0 = id@3
select id as v from (from host semi join run using (id))

-- case: natural_join
-- values: id, gpus
-- row: 1 | ok | 8 ; why 0 = 1 ; why 1 = 1 ; id 0 = id@1 ; gpus 1 = gpus@1
-- row: 2 | ok | 8 ; why 0 = 2 ; why 1 = 2 ; id 0 = id@2 ; gpus 1 = gpus@2
-- row: 3 | failed | 1 ; why 0 = 3 ; why 1 = 3 ; id 0 = id@3 ; gpus 1 = gpus@3
select id, status, gpus from run natural join host

-- case: natural_full_join_star
-- values: id, x
-- row: 1 | 10 | 8 ; why 0 = 1 ; why 1 = 1 ; id 0 = id@1 ; x 0 = tput@1
-- row: 2 | 20 | 8 ; why 0 = 2 ; why 1 = 2 ; id 0 = id@2 ; x 0 = tput@2
-- row: 3 | None | 1 ; why 1 = 3 ; id 1 = id@3
select * from (select id, tput as x from run where id < 3) r natural full join (select id, gpus from host) h

-- case: natural_join_of_one_cte
-- values: id
-- row: 1 | 1 ; why 0 = 1 ; id 0 = id@1
-- row: 2 | 2 ; why 0 = 2 ; id 0 = id@2
with c as (select id, conc from run where id < 3) select id, conc from c a natural join c b

-- case: using_column_of_a_third_table_stays_apart
-- values: k
-- row: 1 | 3 ; why 0 = 1 ; why 1 = 1 ; why 2 = 3 ; k 2 = id@3
-- row: 3 | 4 ; why 0 = 3 ; why 1 = 3 ; why 2 = 4 ; k 2 = id@4
select h.id, s.id as k from host h join run using (id) join feed.sample s on s.run_id = h.id + 1

-- case: derived_table_with_column_list
-- values: x, y
-- row: 1 | 1 ; why 0 = 1 ; why 1 = 1 ; x 0 = id@1 ; y 1 = id@1
-- row: 3 | 3 ; why 0 = 3 ; why 1 = 3 ; x 0 = id@3 ; y 1 = id@3
select a.x, b.y from (select id, host from run) as a(x), (select id from host) as b(y) where a.x = b.y and a.x <> 2

-- case: table_with_column_list
-- values: a
-- row: 1 | a | 1 ; why 0 = 1 ; a 0 = id@1
-- row: 2 | a | 2 ; why 0 = 2 ; a 0 = id@2
select a, b, conc from run as r(a, b) where r.a < 3

-- case: cte_with_column_list
-- values: s
-- row: a | 3 ; why 0 = 1, 2, 3 ; s 0 = *@1, *@2, *@3
-- row: b | 2 ; why 0 = 4, 5 ; s 0 = *@4, *@5
with c(h, n) as (select host, count(*) from run group by host) select h, n as s from c where h is not null

-- case: cte_renamed_twice
-- values: v
-- row: 1 | 2 ; why 0 = 1, 2 ; v 0 = id@2
with c(k) as (select id from run where id < 3) select a.k, b.x as v from c a join c as b(x) on b.x = a.k + 1

-- case: columns_without_a_name
-- values: count_star()
-- row: None | 1 | 10 ; why 0 = 6 ; count_star() 0 = *@6
-- row: a | 3 | 13 ; why 0 = 1, 2, 3 ; count_star() 0 = *@1, *@2, *@3
-- row: b | 2 | 12 ; why 0 = 4, 5 ; count_star() 0 = *@4, *@5
select host, count(*), sum(conc + run.id) from run group by host

-- case: names_as_the_engine_writes_them
-- values: CAST(id AS INTEGER)
-- row: 1 | A | 0 | 1 ; why 0 = 1 ; CAST(id AS INTEGER) 0 = id@1
select cast(id as integer), upper(host), case when conc > 1 then 1 else 0 end, row_number() over (order by id) from run where id = 1
