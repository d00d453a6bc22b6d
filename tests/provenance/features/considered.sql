-- case: minimum
-- values: v
select host, min(tput) as v from run group by host

-- case: maximum
-- values: v
select host, max(tput) as v from run group by host

-- case: median
-- values: v
select kind, median(latency) as v from sample group by kind

-- case: p99
-- values: v
select kind, quantile_cont(latency, 0.99) as v from sample group by kind

-- case: quantile_of_all
-- values: v
select quantile_disc(latency, 0.5) as v from sample

-- case: within_group
-- values: v
select kind, percentile_cont(0.9) within group (order by latency) as v from sample group by kind

-- case: arg_max
-- values: v
select host, arg_max(conc, id) as v from run group by host

-- case: p99_then_median
-- values: v
select h.zone, median(d.p) as v from host h join run r on r.host = h.name join (select run_id,
quantile_cont(latency, 0.9) as p from sample group by run_id) d on d.run_id = r.id group by h.zone

-- case: max_filter
-- values: v
select host, max(tput) filter (where status = 'ok') as v from run group by host

-- case: min_of_join
-- values: v
select h.name, min(s.latency) as v from host h join run r on r.host = h.name join sample s on s.run_id = r.id group
by h.name
