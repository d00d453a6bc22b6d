-- case: in
-- values: tput
select id, tput from run where id in (select run_id from sample)

-- case: in_filtered
-- values: tput
select id, tput from run where id in (select run_id from sample where latency > 4)

-- case: in_two_levels
-- values: name
select name from host where name in (select host from run where id in (select run_id from sample))

-- case: in_correlated
-- values: name
select name from host h where 1 in (select conc from run r where r.host = h.name)

-- case: exists
-- values: tput
select id, tput from run r where exists (select 1 from sample s where s.run_id = r.id)

-- case: exists_two_tables
-- values: name
select name from host h where exists (select 1 from run r join sample s on s.run_id = r.id where r.host = h.name)

-- case: exists_nested
-- values: name
select name from host h where exists (select 1 from run r where r.host = h.name and exists (select 1 from sample s
where s.run_id = r.id))

-- case: exists_uncorrelated
-- values: conc
select conc from run where exists (select 1 from sample where latency > 8)

-- case: in_and_exists
-- values: tput
select id, tput from run r where r.host in (select name from host) and exists (select 1 from sample s where s.run_id
= r.id)

-- case: in_or_condition
-- values: tput
select id, tput from run r where r.conc = 4 or r.id in (select run_id from sample where kind = 'p')

-- case: scalar_where
-- values: tput
select id, tput from run where tput > (select avg(tput) from run)

-- case: scalar_where_correlated
-- values: tput
select id, tput from run a where tput >= (select max(b.tput) from run b where b.host = a.host)

-- case: scalar_select
-- values: v
select id, (select max(latency) from sample) as v from run

-- case: scalar_select_correlated
-- values: v
select id, (select sum(s.latency) from sample s where s.run_id = r.id) as v from run r

-- case: scalar_select_count
-- values: v
select name, (select count(*) from run r where r.host = h.name) as v from host h

-- case: scalar_arithmetic
-- values: v
select id, tput - (select min(tput) from run) as v from run

-- case: scalar_one_row
-- values: v
select r.id, (select h.gpus from host h where h.id = r.conc) as v from run r

-- case: scalar_two_levels
-- values: tput
select id, tput from run where tput > (select avg(tput) from run where conc < (select max(conc) from run))

-- case: scalar_in_group
-- values: v
select host, sum(tput) as v from run where conc <= (select max(gpus) from host) group by host

-- case: scalar_in_having
-- values: v
select host, count(*) as v from run group by host having count(*) >= (select min(gpus) from host)

-- case: scalar_beside_group
-- values: v
select host, sum(tput) + (select max(gpus) from host) as v from run group by host

-- case: exists_before_group
-- values: v
select host, sum(tput) as v from run r where exists (select 1 from sample s where s.run_id = r.id) group by host

-- case: correlated_on_group
-- values: v
select kind, count(*) as v from sample s where latency > (select avg(x.latency) from sample x where x.kind = s.kind)
group by kind

-- case: q17_shape
-- values: v
select sum(s.latency) / 7.0 as v from sample s join run r on r.id = s.run_id where s.latency < (select 1.2 *
avg(x.latency) from sample x where x.run_id = r.id)

-- case: q20_shape
-- values: name
select name from host where id in (select conc from run where id in (select run_id from sample where kind = 'p') and
tput > (select 0.5 * min(latency) from sample where run_id = run.id))

-- case: tuple_in
select id from run where (id, conc) in (select run_id, latency - 1 from sample)

-- case: any_equal
-- values: tput
select id, tput from run where id = any (select run_id from sample)

-- case: tuple_not_in
-- values: conc
select id, conc from run where (id, conc) not in (select run_id, latency - 1 from sample where run_id is not null and
latency is not null)

-- case: in_filter
-- values: v
select host, count(*) filter (where id in (select run_id from sample)) as v from run group by host

-- case: scalar_in_join_on
-- values: v
select h.name, r.conc as v from host h join run r on r.host = h.name and r.conc > (select min(conc) from run)

-- case: in_group_key
-- values: v
select h.zone, count(*) as v from host h join run r on r.host = h.name where r.id in (select s.run_id from sample s
where s.latency > (select avg(latency) from sample)) group by h.zone

-- case: having_correlated
-- values: v
select r.host, sum(r.conc) as v from run r group by r.host having exists (select 1 from host h where h.name = r.host)
