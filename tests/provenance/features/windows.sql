-- case: sum_over_partition
-- values: v
select id, sum(conc) over (partition by host) as v from run

-- case: running_sum
-- values: v
select id, sum(conc) over (order by id) as v from run

-- case: running_sum_partition
-- values: v
select id, sum(conc) over (partition by host order by id) as v from run

-- case: rows_frame
-- values: v
select id, sum(conc) over (order by id rows between 1 preceding and 1 following) as v from run

-- case: rows_preceding
-- values: v
select id, avg(conc) over (order by id rows 2 preceding) as v from run

-- case: rows_ahead
-- values: v
select id, sum(conc) over (order by id rows between 1 following and 2 following) as v from run

-- case: range_frame
-- values: v
select id, count(*) over (order by conc range between 1 preceding and current row) as v from run

-- case: exclude_current
-- values: v
select id, sum(conc) over (order by id rows between 1 preceding and 1 following exclude current row) as v from run

-- case: lag
-- values: v
select id, lag(conc) over (order by id) as v from run

-- case: lead_two
-- values: v
select id, lead(conc, 2) over (order by id) as v from run

-- case: lag_default
-- values: v
select id, lag(conc, 1, -1) over (partition by host order by id) as v from run

-- case: difference
-- values: v
select id, conc - lag(conc) over (order by id) as v from run

-- case: first_value
-- values: v
select id, first_value(tput) over (partition by host order by id) as v from run

-- case: last_value
-- values: v
select id, last_value(conc) over (partition by host order by id) as v from run

-- case: nth_value
-- values: v
select id, nth_value(conc, 2) over (order by id) as v from run

-- case: lag_ignore_nulls
-- values: v
select id, lag(tput ignore nulls) over (order by id) as v from run

-- case: row_number
-- values: v
select id, row_number() over (partition by host order by id) as v from run

-- case: rank
-- values: v
select id, rank() over (order by conc) as v from run

-- case: dense_rank
-- values: v
select id, dense_rank() over (order by conc) as v from run

-- case: named_window
-- values: a, b
select id, sum(conc) over w as a, count(*) over w as b from run window w as (partition by host order by id)

-- case: two_windows
-- values: a, b
select id, sum(conc) over (partition by host) as a, lag(id) over (order by id) as b from run

-- case: qualify_first
-- values: tput
select id, tput from run qualify row_number() over (partition by host order by id) = 1

-- case: qualify_latest
-- values: tput
select id, host, tput from run qualify row_number() over (partition by host order by id desc) = 1

-- case: qualify_second
-- values: tput
select id, tput from run qualify row_number() over (partition by status order by id) = 2

-- case: qualify_named
-- values: v
select id, row_number() over (partition by host order by id) as v from run qualify v <= 2

-- case: window_after_join
-- values: v
select r.id, s.id as sid, sum(s.latency) over (partition by r.id order by s.id) as v from run r join sample s on
s.run_id = r.id

-- case: window_filter
-- values: v
select id, count(*) filter (where status = 'ok') over (partition by host order by id) as v from run

-- case: window_in_derived
-- values: v
select d.id, d.v from (select id, sum(conc) over (partition by host) as v from run) d where d.v > 4

-- case: top_one_join
-- values: v
select h.name, d.tput as v from host h join (select host, tput from run qualify row_number() over (partition by host
order by id desc) = 1) d on d.host = h.name

-- case: window_ratio
-- values: v
select id, conc * 1.0 / sum(conc) over (partition by host) as v from run

-- case: extended_window
-- refuse: E_WINDOW
select id, sum(conc) over (w order by id) as v from run window w as (partition by host)
