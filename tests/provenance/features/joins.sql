-- case: inner
-- values: v
select h.name, r.tput as v from host h join run r on r.host = h.name

-- case: left
-- values: v
select h.name, r.tput as v from host h left join run r on r.host = h.name

-- case: right
-- values: v
select h.name, r.tput as v from host h right join run r on r.host = h.name

-- case: full
-- values: v
select h.name, r.tput as v from host h full join run r on r.host = h.name

-- case: cross
-- values: v
select h.name, r.conc as v from host h cross join run r where r.conc = 4

-- case: comma
-- values: v
select h.name, r.tput as v from host h, run r where r.host = h.name

-- case: three_tables
-- values: v
select h.zone, s.latency as v from host h join run r on r.host = h.name join sample s on s.run_id = r.id

-- case: left_chain
-- values: v
select h.name, s.latency as v from host h left join run r on r.host = h.name left join sample s on s.run_id = r.id

-- case: left_then_inner
-- values: v
select h.name, s.latency as v from host h left join run r on r.host = h.name join sample s on s.run_id = r.id

-- case: full_chain
-- values: v
select r.id, s.id as sid, s.latency as v from host h full join run r on r.host = h.name full join sample s on
s.run_id = r.id

-- case: self_join
-- values: v
select a.id, b.tput as v from run a join run b on a.conc = b.conc and a.id < b.id

-- case: self_left_join
-- values: v
select a.id, b.id as v from run a left join run b on b.conc > a.conc and b.host = a.host

-- case: three_times_run
-- values: v
select a.id, c.tput as v from run a join run b on b.host = a.host join run c on c.conc = b.conc where a.id <= 2

-- case: non_equi
-- values: v
select a.id, s.latency as v from run a join sample s on s.latency > a.conc and s.run_id = a.id

-- case: using_inner
-- values: v
select id, tput as v from run join (select id, latency from sample) s using (id)

-- case: using_full
-- values: id
select id, a.conc from run a full join (select id, latency from sample) s using (id)

-- case: using_right
-- values: id
select id, s.latency from run a right join (select id, latency from sample) s using (id)

-- case: on_constant
-- values: v
select h.name, r.tput as v from host h left join run r on r.host = h.name and r.status = 'failed'

-- case: null_side_filter
-- values: name
select h.name from host h left join run r on r.host = h.name and r.conc = 4 where r.id is null

-- case: null_side_coalesce
-- values: v
select h.name, coalesce(r.tput, h.gpus) as v from host h left join run r on r.host = h.name and r.conc = 1

-- case: join_derived
-- values: v
select h.name, d.m as v from host h join (select host, max(tput) as m from run group by host) d on d.host = h.name

-- case: left_join_derived
-- values: v
select h.name, d.n as v from host h left join (select host, count(*) as n from run group by host) d on d.host =
h.name

-- case: full_join_on_false
-- values: v
select h.name, r.id as v from host h full join run r on false

-- case: or_condition
-- values: v
select h.name, r.id as v from host h join run r on r.host = h.name or r.conc = h.gpus

-- case: semi
select r.id, r.tput from run r semi join sample s on s.run_id = r.id

-- case: anti
select r.id, r.tput from run r anti join sample s on s.run_id = r.id

-- case: semi_grouped
select r.host, sum(r.tput) as v from run r semi join sample s on s.run_id = r.id group by r.host

-- case: natural
select r.conc from run r natural join (select id from sample) s

-- case: asof
-- values: latency
select r.id, s.latency from run r asof join sample s on r.id = s.run_id and r.tput >= s.latency

-- case: positional
-- refuse: E_JOIN
select r.id, s.id as sid from run r positional join sample s

-- case: comma_before_right
select h.name from host h, run r right join sample s on s.run_id = r.id

-- case: lateral
select r.id, l.m from run r, lateral (select max(latency) as m from sample s where s.run_id = r.id) l
