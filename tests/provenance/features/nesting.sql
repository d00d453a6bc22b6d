-- case: derived
-- values: v
select d.k, d.v from (select host as k, tput * 2 as v from run where conc > 1) d

-- case: derived_twice
-- values: v
select d.k, d.v from (select e.k, e.v + 1 as v from (select host as k, conc as v from run) e where e.v > 1) d

-- case: cte
-- values: v
with c as (select host as k, sum(conc) as v from run group by host) select k, v from c

-- case: cte_filtered
-- values: v
with c as (select host as k, sum(conc) as v from run group by host) select k, v from c where v > 4

-- case: cte_of_cte
-- values: v
with a as (select host, conc from run where status = 'ok'), b as (select host as k, sum(conc) as v from a group by
host) select k, v from b

-- case: cte_twice
-- values: v
with c as (select host, sum(conc) as s from run group by host) select a.host, b.s as v from c a join c b on a.s >
b.s

-- case: cte_max_of_itself
-- values: v
with c as (select host, sum(conc) as v from run group by host) select host, v from c where v = (select max(v) from
c)

-- case: cte_and_table
-- values: v
with c as (select host, avg(conc) as m from run group by host) select r.id, c.m as v from run r join c on c.host =
r.host where r.conc >= c.m

-- case: cte_shadows_table
-- values: v
with host as (select id, conc as v from run where conc > 1) select id, v from host

-- case: cte_in_subquery
-- values: v
select id, conc as v from run where id in (with s as (select run_id from sample where kind = 'p') select run_id from
s)

-- case: two_level_groups
-- values: v
select zone, max(n) as v from (select h.zone, h.name, count(*) as n from host h join run r on r.host = h.name group
by h.zone, h.name) d group by zone

-- case: group_over_window
-- values: v
select status, sum(n) as v from (select status, row_number() over (partition by host order by id) as n from run) d
group by status

-- case: window_over_window
-- values: v
select id, sum(n) over (order by id) as v from (select id, row_number() over (partition by host order by id) as n
from run) d

-- case: limit_inside
-- values: v
select d.id, s.latency as v from (select id from run order by tput desc nulls last, id limit 3) d left join sample s
on s.run_id = d.id

-- case: materialized_cte
-- values: v
with c as materialized (select id, conc as v from run) select id, v from c where v = 2

-- case: view_of_join
-- values: v
with j as (select h.name, h.zone, r.id, r.conc from host h left join run r on r.host = h.name) select zone,
sum(conc) as v from j group by zone

-- case: q13_shape
-- values: v
select n, count(*) as v from (select h.name, count(r.id) as n from host h left join run r on r.host = h.name and
r.status = 'ok' group by h.name) d group by n

-- case: q15_shape
-- values: v
with revenue as (select host as h, sum(tput) as v from run group by host) select x.id, revenue.v from host x,
revenue where x.name = revenue.h and revenue.v = (select max(v) from revenue)

-- case: column_list_behind_derived
select d.k, d.v from (select host, sum(conc) from run group by host) as d(k, v)

-- case: recursive
with recursive c as (select id, conc, 1 as depth from run where id = 1 union all select r.id, r.conc, c.depth + 1
from c join run r on r.id = c.id + 1 where c.depth < 4) select id, depth from c

-- case: unnamed_column
select host, sum(conc) from run group by host
