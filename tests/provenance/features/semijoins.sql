-- case: semi_using
select id, status from run semi join (select run_id as id from sample) s using (id)

-- case: semi_many_witnesses
-- values: v
select h.name, h.gpus as v from host h semi join run r on r.host = h.name and r.conc >= 2

-- case: semi_two
-- values: tput
select r.id, r.tput from run r semi join sample s on s.run_id = r.id semi join host h on h.name = r.host

-- case: semi_then_left
-- values: latency
select r.id, s.latency from run r semi join host h on h.name = r.host left join sample s on s.run_id = r.id

-- case: anti_inequality
-- values: tput
select r.id, r.tput from run r anti join sample s on s.latency > r.tput

-- case: anti_of_derived
-- values: v
select r.host, count(*) as v from run r anti join (select run_id from sample group by run_id having count(*) > 1) d on
d.run_id = r.id group by r.host

-- case: semi_of_grouped
-- values: tput
select r.id, r.tput from run r semi join (select host, count(*) as n from run group by host) d on d.host = r.host and
d.n >= r.conc

-- case: semi_window
-- values: v
select r.id, sum(r.conc) over (order by r.id rows between 1 preceding and current row) as v from run r semi join
sample s on s.run_id = r.id

-- case: semi_in_view
-- values: v
with ok as (select r.id, r.host, r.conc from run r semi join sample s on s.run_id = r.id) select a.host, sum(b.conc)
as v from ok a join ok b on a.host = b.host group by a.host

-- case: anti_nested_not_exists
-- values: conc
select r.id, r.conc from run r anti join sample s on s.run_id = r.id and exists (select 1 from host h where h.id =
s.latency)
