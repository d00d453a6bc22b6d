-- case: cte_of_values
-- values: b
with w(a, b) as (values (1, 2), (2, 4), (3, 6)) select r.id, r.conc * w.b as b from run r join w on w.a = r.conc

-- case: grouped_by_values
-- values: s
select col1 as kind, sum(tput) as s from run join (values (1, 'low'), (2, 'low'), (4, 'high')) on col0 = conc group by col1

-- case: order_by_all_limit
-- values: tput
select conc, id, tput from run order by all desc limit 3

-- case: order_by_all_of_groups
-- values: n
select host, count(*) as n from run group by all order by all limit 2

-- case: fetch_first
-- values: v
select x.host, x.v from (select id, host, tput as v from run order by id fetch first 4 rows only) x

-- case: nested_exists_of_stars
-- values: id
select id from host h where exists (select * from run r where r.host = h.name and exists (select * from sample s where s.run_id = r.id))

-- case: exists_of_a_star_within_in
-- values: tput
select id, tput from run where host in (select name from host h where exists (select r.* from run r where r.host = h.name))

-- case: geomean
-- values: g
select host, geomean(conc) as g from run group by host

-- case: weighted_avg
-- values: w
select host, weighted_avg(tput, conc) as w from run group by host

-- case: wavg_over_join
-- values: w
select h.name, wavg(r.tput, h.gpus) as w from host h join run r on r.host = h.name group by h.name

-- case: unpivot
-- values: value
unpivot run on conc, tput

-- case: unpivot_grouped
-- values: s
select metric, host, sum(v) as s from (unpivot run on conc, tput into name metric value v) group by metric, host

-- case: unpivot_with_nulls
-- values: v
select u.id, u.k, u.v from run unpivot include nulls (v for k in (conc, tput)) as u where u.id < 5

-- case: unpivot_of_groups
-- values: v
with g as (select host, sum(tput) as total, max(conc) as most from run group by host) select * from g unpivot (v for k in (total, most))

-- case: having_aggregate_in
-- values: s
select host, sum(conc) as s from run group by host having count(*) in (select id from host)

-- case: having_aggregate_not_in
-- values: s
select host, sum(conc) as s from run group by host having count(*) not in (select id from host where id > 2)

-- case: qualify_window_in
-- values: tput
select id, tput from run qualify row_number() over (order by id) in (select id from host)

-- case: in_of_an_outer_join
-- values: gpus
select r.id, h.gpus from run r left join host h on h.name = r.host and r.id in (select run_id from sample)

-- case: in_of_a_full_join
-- values: gpus
select r.id, h.gpus from run r full join host h on h.name = r.host and r.conc in (select id from host)

-- case: order_by_a_correlated_subquery
-- values: tput
select id, tput from run r order by (select max(latency) from sample s where s.run_id = r.id) desc nulls last, id limit 3

-- case: order_by_membership
-- values: tput
select id, tput from run order by id in (select run_id from sample) desc, id limit 3

-- case: order_by_a_subquery_of_the_group
-- values: s
select host, sum(conc) as s from run group by host order by (select max(gpus) from host h where h.name = run.host) desc nulls last, host limit 2

-- case: grouping_id
-- values: s
select host, status, grouping_id(host, status) as g, sum(conc) as s from run group by rollup (host, status)

-- case: sorted_list
-- values: l
select host, list_sort(list(tput)) as l from run group by host

-- case: sorted_list_filtered
-- values: l
select host, list_reverse_sort(list(distinct conc) filter (conc > 1)) as l from run group by host

-- case: sorted_list_of_a_window
-- values: l
select id, list_sort(list(conc) over (partition by host)) as l from run
