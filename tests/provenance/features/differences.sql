-- case: except_grouped
-- values: v
select host, count(*) as v from run group by host except select name, gpus from host

-- case: intersect_nulls
-- values: host
select host from run where conc < 4 intersect select host from run where status = 'failed'

-- case: intersect_of_union
-- values: k
(select host as k from run union all select name from host) intersect select name from host

-- case: except_chain
-- values: id
select id from run except select run_id from sample where kind = 'r' except select id from host

-- case: intersect_binds_tighter
-- values: id
select id from host union select id from run intersect select run_id from sample

-- case: except_in_not_in
-- values: tput
select id, tput from run where id not in (select id from run except select run_id from sample)

-- case: intersect_in_cte_grouped
-- values: v
with c as (select id from run intersect select run_id from sample) select r.host, sum(r.conc) as v from c join run r
on r.id = c.id group by r.host

-- case: except_types_join
-- values: v
select d.conc, h.gpus as v from (select conc from run except select tput from run) d join host h on h.gpus = d.conc

-- case: except_ordered_limit
-- values: id
select id from run except select id from host order by id desc limit 2

-- case: intersect_self
-- values: conc
select conc from run intersect select conc from run

-- case: except_exists
select name from host h where exists (select r.status from run r where r.host = h.name except select r.status from run
r where r.host is null)
