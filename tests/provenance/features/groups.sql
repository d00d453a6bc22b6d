-- case: sum
-- values: v
select host, sum(tput) as v from run group by host

-- case: count_star
-- values: v
select host, count(*) as v from run group by host

-- case: count_column
-- values: v
select host, count(tput) as v from run group by host

-- case: count_distinct
-- values: v
select host, count(distinct conc) as v from run group by host

-- case: average
-- values: v
select host, avg(tput) as v from run group by host

-- case: several
-- values: a, b, c
select host, sum(tput) as a, max(conc) as b, count(*) as c from run group by host

-- case: global_sum
-- values: v
select sum(tput) as v from run

-- case: global_filtered_away
-- values: v
select sum(tput) as v, count(*) as n from run where conc > 100

-- case: filter_clause
-- values: v
select host, sum(tput) filter (where status = 'ok') as v from run group by host

-- case: filter_two
-- values: a, b
select host, count(*) filter (where conc = 1) as a, count(*) filter (where conc <> 1) as b from run group by host

-- case: having
-- values: v
select host, sum(tput) as v from run group by host having count(*) > 1

-- case: having_sum
-- values: v
select kind, sum(latency) as v from sample group by kind having sum(latency) > 10

-- case: group_expression
-- values: v
select conc > 1 as k, sum(tput) as v from run group by conc > 1

-- case: group_alias
-- values: v
select conc * 2 as k, sum(tput) as v from run group by k

-- case: group_position
-- values: v
select host, status, sum(conc) as v from run group by 1, 2

-- case: group_all
-- values: v
select host, status, sum(conc) as v from run group by all

-- case: group_join
-- values: v
select h.zone, sum(r.conc) as v from host h join run r on r.host = h.name group by h.zone

-- case: group_left_join
-- values: v
select h.name, count(r.id) as v from host h left join run r on r.host = h.name group by h.name

-- case: group_outer_key
-- values: v
select r.status, count(*) as v from host h left join run r on r.host = h.name group by r.status

-- case: group_three
-- values: v
select h.zone, sum(s.latency) as v from host h join run r on r.host = h.name join sample s on s.run_id = r.id group
by h.zone

-- case: sum_case
-- values: v
select host, sum(case when status = 'ok' then conc else 0 end) as v from run group by host

-- case: ratio
-- values: v
select kind, sum(latency) * 1.0 / count(*) as v from sample group by kind

-- case: sum_product
-- values: v
select h.name, sum(h.gpus * r.conc) as v from host h join run r on r.host = h.name group by h.name

-- case: ordered_list
-- values: v
select host, list(conc order by id) as v from run group by host

-- case: string_agg_ordered
-- values: v
select host, string_agg(status, ',' order by id) as v from run group by host

-- case: regression
-- values: v
select status, corr(conc, tput) as v from run group by status

-- case: group_order_limit
-- values: v
select host, sum(conc) as v from run group by host order by v desc, host nulls last limit 2

-- case: group_no_aggregate
-- values: conc
select host, conc from run group by host, conc

-- case: group_of_group
-- values: v
select d.v, count(*) as n from (select host, count(*) as v from run group by host) d group by d.v

-- case: distinct_of_group
-- values: v
select distinct sum(conc) as v from run group by host

-- case: bool_and
-- values: v
select host, bool_and(conc > 1) as v from run group by host

-- case: rollup
select host, status, sum(conc) as v from run group by rollup (host, status)

-- case: cube
select host, status, sum(conc) as v from run group by cube (host, status)

-- case: grouping_sets
select host, status, sum(conc) as v from run group by grouping sets ((host), (status), ())

-- case: pivot
select * from (select host, status, conc from run) pivot (sum(conc) for status in ('ok', 'failed'))

-- case: unpivot
select * from (select id, conc, gpus from (select r.id, r.conc, h.gpus from run r join host h on h.name = r.host))
unpivot (v for what in (conc, gpus))
