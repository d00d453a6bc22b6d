-- Conservative by rule, so that precision says little: min, max, quantiles and arg_max list every row that was
-- considered; ANY and ALL every row that was compared with, of which one decides; a row outside of them (a NULL,
-- say) might have.

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

-- case: any
select id from run where tput > any (select latency from sample)

-- case: all
select id from run where tput > all (select latency from sample where latency is not null)

-- case: not_any
select id from run where not tput > any (select latency + 10 from sample where latency is not null)

-- case: all_inequality
-- values: tput
select id, tput from run where conc <= all (select gpus from host)

-- case: any_correlated
-- values: tput
select id, tput from run r where tput > any (select 2 * latency from sample s where s.run_id = r.id)

-- case: all_correlated
-- values: v
select host, sum(conc) as v from run r where tput >= all (select s.latency from sample s where s.run_id = r.id and
s.latency is not null) group by host
