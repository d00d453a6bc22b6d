-- case: comma_three
-- values: latency
select h.zone, s.latency from host h, run r, sample s where h.name = r.host and s.run_id = r.id

-- case: comma_before_left
-- values: latency
select h.name, r.id, s.latency from host h, run r left join sample s on s.run_id = r.id where r.host = h.name

-- case: asof_left
-- values: latency
select r.id, s.latency from run r asof left join sample s on r.id = s.run_id and r.tput >= s.latency

-- case: asof_without_equality
-- values: conc
select s.id, r.conc from sample s asof join run r on s.latency >= r.id

-- case: asof_grouped
-- values: v
select r.host, sum(s.latency) as v from run r asof left join sample s on r.tput >= s.id group by r.host

-- case: asof_using
-- values: gpus
select r.id, h.gpus from run r asof join (select id, gpus from host) h using (id)

-- case: asof_less
-- values: gpus
select r.id, h.gpus from run r asof join host h on r.conc <= h.id

-- case: pivot_two_aggregates
-- values: ok_n
select * from (select host, status, conc from run) pivot (sum(conc) as s, count(*) as n for status in ('ok', 'failed')
group by host)

-- case: pivot_of_join
-- values: x
from (select h.zone, r.status, r.conc from host h join run r on r.host = h.name) pivot (max(conc) for zone in ('x',
'y') group by status)

-- case: pivot_statement
-- values: ok
pivot run on status in ('ok', 'failed') using sum(conc) group by host

-- case: pivot_then_filter
-- values: failed
select p.host, p.failed from (select host, status, conc from run) pivot (sum(conc) for status in ('ok', 'failed')
group by host) p where p.failed > 2

-- case: lateral_aggregate
-- values: v
select h.name, d.v from host h, lateral (select sum(r.conc) as v from run r where r.host = h.name) d

-- case: lateral_left
-- values: latency
select r.id, d.latency from run r left join lateral (select s.latency from sample s where s.run_id = r.id and
s.latency > 4) d on true

-- case: lateral_limit
-- values: tput
select h.name, d.tput from host h, lateral (select r.tput from run r where r.host = h.name order by r.tput desc nulls
last, r.id limit 1) d

-- case: lateral_twice
-- values: v
select h.name, e.v from host h, lateral (select r.id from run r where r.host = h.name) d, lateral (select count(*) as
v from sample s where s.run_id = d.id) e

-- case: lateral_grouped_around
-- values: v
select h.zone, sum(d.v) as v from host h, lateral (select sum(r.conc) as v from run r where r.host = h.name) d group
by h.zone

-- case: lateral_unnest
-- values: v
select r.id, u.x + r.conc as v from run r, lateral (select unnest([1, 2]) as x) u

-- case: parenthesised_left_join
-- values: v
select h.name, s.latency as v from host h left join (run r join sample s on s.run_id = r.id) on r.host = h.name

-- case: natural_left
-- values: latency
select * from (select id, conc from run) a natural left join (select run_id as id, latency from sample) b

-- case: column_list_cte
-- values: b
with c(a, b) as (select host, sum(conc) from run group by host) select a, b from c

-- case: values_and_rows
-- values: v
select v.n, r.conc as v from (values ('a', 1), ('b', 2)) v(n, w) join run r on r.host = v.n

-- case: pivot_of_join_in_a_condition
-- values: tput
select t.id, t.tput from run t where t.conc in (select d.p from (pivot (select r.status as k, s.kind as w, r.conc as n
from sample s join run r on s.run_id = r.id) on w in ('p', 'q') using max(n) group by k) d)
