-- case: rollup_avg
-- values: v
select host, status, avg(conc) as v, grouping(host) as g from run group by rollup (host, status)

-- case: cube_having
-- values: v
select host, status, count(tput) as v from run group by cube (host, status) having count(*) > 1

-- case: sets_empty_group
-- values: v
select status, count(*) as v from run where conc > 100 group by grouping sets ((status), ())

-- case: sets_with_filter
-- values: v
select host, sum(conc) filter (where status = 'failed') as v from run group by grouping sets ((host), ())

-- case: rollup_join
-- values: v
select h.zone, r.status, sum(r.conc) as v from host h join run r on r.host = h.name group by rollup (h.zone, r.status)

-- case: rollup_in_cte
-- values: v
with t as (select host, status, sum(conc) as n from run group by rollup (host, status)) select host, n as v from t
where status is null

-- case: rollup_with_window
-- values: v
select host, status, sum(conc) as n, rank() over (order by sum(conc) desc) as v from run group by rollup (host,
status)

-- case: sets_key_value
-- values: host
select host, conc from run group by grouping sets ((host), (conc))

-- case: rollup_twice
-- values: v
select host, status, count(*) as v from run group by rollup (host), rollup (status)

-- case: rollup_expression
-- values: v
select conc % 2 as p, status, sum(conc) as v from run group by rollup (p, status)

-- case: rollup_composite
-- values: v
select host, status, conc, count(*) as v from run group by rollup ((host, status), conc)

-- case: rollup_distinct
-- values: v
select distinct v from (select host, status, count(*) as v from run group by rollup (host, status)) d

-- case: rollup_of_the_key_of_rows
-- values: v
select id, sum(conc) as v from run group by rollup (id) having count(*) > 1
