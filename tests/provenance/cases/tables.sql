-- case: derived_table
-- values: s
-- row: None | 30 ; why 0 = 6 ; s 0 = tput@6
-- row: a | 30 ; why 0 = 1, 2, 3 ; s 0 = tput@1, tput@2
-- row: b | 30 ; why 0 = 4, 5 ; s 0 = tput@4, tput@5
select d.host, d.s from (select host, sum(tput) as s from run group by host) d where d.s > 25

-- case: cte
-- values: s
-- row: None | 30 ; why 0 = 6 ; s 0 = tput@6
-- row: a | 30 ; why 0 = 1, 2 ; s 0 = tput@1, tput@2
-- row: b | 30 ; why 0 = 4, 5 ; s 0 = tput@4, tput@5
with ok as (select host, tput from run where status = 'ok') select host, sum(tput) as s from ok group by host order by host nulls first

-- case: cte_twice
-- values: lo, hi
-- row: 18 | 30 ; why 0 = 4, 5, 6 ; lo 0 = tput@4, tput@5 ; hi 0 = tput@6
-- row: 18 | 20 ; why 0 = 1, 2, 3, 4, 5 ; lo 0 = tput@4, tput@5 ; hi 0 = tput@1, tput@2
with per as (select host, max(tput) as m from run group by host) select a.m as lo, b.m as hi from per a join per b on a.m < b.m where a.m = 18

-- case: cte_over_cte
-- values: m
-- row: None | 30 ; why 0 = 6 ; m 0 = tput@6
-- row: a | 10 ; why 0 = 1, 2, 3 ; m 0 = tput@1, tput@2
-- row: b | 12 ; why 0 = 4, 5 ; m 0 = tput@4, tput@5
with p as (select host, conc, max(tput) as m from run group by all), q as (select host, min(m) as m from p group by host) select host, m from q

-- case: nested_with
-- values: v
-- row: 11 ; why 0 = 1 ; v 0 = tput@1
with a as (with b as (select id, tput from run) select id, tput + 1 as v from b) select v from a where id = 1

-- case: materialized_cte
-- values: tput
-- row: 10 ; why 0 = 1 ; tput 0 = tput@1
with a as materialized (select tput from run where id = 1) select tput from a

-- case: values_list
-- values: y
-- row: 1 | p
-- row: 2 | q
select v.x, v.y from (values (1, 'p'), (2, 'q')) v(x, y)

-- case: values_joined
-- values: w
-- row: 1 | 3 ; why 0 = 1
-- row: 2 | 3 ; why 0 = 2
select r.id, v.w from run r join (values ('a', 3)) v(host, w) on v.host = r.host where r.id < 3

-- case: range_source
-- values: i
-- row: 1 | 0 ; why 0 = 1
-- row: 1 | 1 ; why 0 = 1
select r.id, g.i from run r cross join range(2) g(i) where r.id = 1

-- case: range_of_own_column
-- values: i
-- row: 2 | 1 ; why 0 = 2 ; i 0 = conc@2
-- row: 2 | 0 ; why 0 = 2 ; i 0 = conc@2
select r.id, g.i from run r, range(r.conc) as g(i) where r.id = 2

-- case: unnest_of_own_column
-- values: t
-- row: 1 | 1 ; why 0 = 1 ; t 0 = tags@1
-- row: 1 | 2 ; why 0 = 1 ; t 0 = tags@1
-- row: 3 | 3 ; why 0 = 3 ; t 0 = tags@3
-- row: 5 | 4 ; why 0 = 5 ; t 0 = tags@5
-- row: 6 | 5 ; why 0 = 6 ; t 0 = tags@6
select s.id, u.t from feed.sample s, unnest(s.tags) as u(t)

-- case: unnest_in_select
-- values: t
-- row: 1 | 1 ; why 0 = 1 ; t 0 = tags@1
-- row: 1 | 2 ; why 0 = 1 ; t 0 = tags@1
-- row: 3 | 3 ; why 0 = 3 ; t 0 = tags@3
select id, unnest(tags) as t from feed.sample where id < 4

-- case: generate_series
-- values: v
-- row: 1
-- row: 2
select g.v from generate_series(1, 2) as g(v)

-- case: functions_that_read_the_pinned_zone
-- values: d, a, n
-- row: 1 | 2026-01-01 | True | 10 ; why 0 = 1 ; n 0 = tput@1
select id, strftime(timestamptz '2026-01-01 00:00:00Z' at time zone 'UTC', '%Y-%m-%d') as d,
    age(timestamptz '2026-01-02 00:00:00Z', timestamptz '2026-01-01 00:00:00Z') = interval 1 day as a, tput as n
from run where id = date_part('day', timestamptz '2026-01-01 00:00:00Z')

-- case: order_by_limit
-- values: tput
-- row: 6 | 30 ; why 0 = 6 ; tput 0 = tput@6
-- row: 2 | 20 ; why 0 = 2 ; tput 0 = tput@2
select id, tput from run order by tput desc nulls last, id limit 2

-- case: limit_inside
-- values: m
-- row: 20 ; why 0 = 1, 2 ; m 0 = tput@1, tput@2
select max(tput) as m from (select tput from run order by id limit 2) t

-- case: from_first
-- values: tput
-- row: 10 ; why 0 = 1 ; tput 0 = tput@1
from run select tput where id = 1

-- case: quoted_names
-- values: Total Tput
-- row: 22 ; why 0 = 1, 4 ; Total Tput 0 = tput@1, tput@4
select sum(tput) as "Total Tput" from run as "my run" where "my run".conc = 1

-- case: cte_shadows_table
-- values: tput
-- row: 10 ; why 0 = 1 ; tput 0 = tput@1
with run as (select id, tput from run where id = 1) select tput from run

-- case: grouped_then_joined
-- values: c
-- row: 1 | 2 ; why 0 = 1 ; why 1 = 1, 2 ; c 1 = *@1, *@2
-- row: 2 | 1 ; why 0 = 2 ; why 1 = 3 ; c 1 = *@3
-- row: 3 | None ; why 0 = 3
select r.id, q.c from run r left join (select run_id, count(*) as c from feed.sample group by run_id) q on q.run_id = r.id where r.id < 4

-- case: derived_table_without_name
-- values: m
-- row: 12 ; why 0 = 1, 4 ; m 0 = tput@1, tput@4
select m from (select max(tput) as m from (select tput from run where conc = 1))
