-- case: not_exists
-- values: tput
select id, tput from run r where not exists (select 1 from sample s where s.run_id = r.id)

-- case: not_exists_partly
-- values: tput
select id, tput from run r where not exists (select 1 from sample s where s.run_id = r.id and s.latency > 6)

-- case: not_in
-- values: tput
select id, tput from run where id not in (select run_id from sample where run_id is not null)

-- case: not_in_filtered
-- values: tput
select id, tput from run where id not in (select run_id from sample where kind = 'p' and run_id is not null)

-- case: not_exists_same_table
-- values: tput
select a.id, a.tput from run a where not exists (select 1 from run b where b.host = a.host and b.tput > a.tput)

-- case: exists_and_not_exists
-- values: name
select name from host h where exists (select 1 from run r where r.host = h.name) and not exists (select 1 from run r
where r.host = h.name and r.status = 'failed')

-- case: not_exists_grouped
-- values: v
select host, sum(tput) as v from run r where not exists (select 1 from sample s where s.run_id = r.id) group by host

-- case: not_in_grouped
-- values: v
select status, count(*) as v from run where id not in (select run_id from sample where kind = 'q' and run_id is not
null) group by status

-- case: not_exists_of_not_exists
-- values: name
select name from host h where not exists (select 1 from run r where r.host = h.name and not exists (select 1 from
sample s where s.run_id = r.id))

-- case: q22_shape
-- values: v
select r.status, count(*) as v from run r where r.tput > (select avg(x.tput) from run x where x.tput > 0) and not
exists (select 1 from run y where y.host = r.host and y.conc > r.conc) group by r.status

-- case: q21_shape
-- values: v
select h.name, count(*) as v from host h join run a on a.host = h.name where exists (select 1 from run b where
b.conc = a.conc and b.host <> a.host) and not exists (select 1 from run c where c.conc = a.conc and c.host <> a.host
and c.status = 'failed') group by h.name

-- case: left_join_is_null_grouped
-- values: v
select h.zone, count(*) as v from host h left join run r on r.host = h.name and r.conc = 4 where r.id is null group
by h.zone

-- case: not_exists_window
-- values: v
select id, rank() over (order by tput desc nulls last) as v from run r where not exists (select 1 from sample s
where s.run_id = r.id and s.kind = 'r')

-- case: except
select host from run except select name from host

-- case: except_columns
select host, conc from run except select name, gpus from host

-- case: except_types
select conc from run except select tput from run

-- case: not_exists_decides_a_case
select id from run r where case when not exists (select 1 from sample s where s.run_id = r.id) then conc > 9 else conc < 9 end
