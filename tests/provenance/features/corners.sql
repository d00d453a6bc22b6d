-- case: groups_frame
-- values: v
select id, sum(conc) over (order by conc groups between 1 preceding and current row) as v from run

-- case: exclude_ties
-- values: v
select id, sum(conc) over (order by conc rows between unbounded preceding and current row exclude ties) as v from
run

-- case: distinct_in_window
-- values: v
select id, count(distinct status) over (partition by host) as v from run

-- case: last_value_ignore_nulls
-- values: v
select id, last_value(tput ignore nulls) over (order by id rows between unbounded preceding and unbounded following)
as v from run

-- case: lag_zero
-- values: v
select id, lag(conc, 0) over (order by id) as v from run

-- case: having_scalar_of_same_table
-- values: v
select host, sum(conc) as v from run group by host having sum(conc) > (select avg(conc) from run)

-- case: having_without_group
-- values: v
select count(*) as v from run having count(*) > 2

-- case: window_over_aggregate
-- values: v, w
select status, host, sum(conc) as v, sum(sum(conc)) over (partition by status) as w from run group by status, host

-- case: most_common
-- values: v
select host, mode(status) as v from run group by host

-- case: not_in_with_nulls
-- values: tput
select id, tput from run where host not in (select name from host where zone = 'x')

-- case: in_is_true
-- values: tput
select id, tput from run where (host in (select name from host where gpus > 1)) is true

-- case: exists_in_case
select id, case when exists (select 1 from sample s where s.run_id = r.id) then conc else tput end as v from run r

-- case: scalar_in_case
select id, case when conc > (select avg(conc) from run) then tput else conc end as v from run

-- case: count_is_zero
-- values: id
select id from run r where (select count(*) from sample s where s.run_id = r.id) = 0

-- case: max_is_null
-- values: id
select id from run r where (select max(latency) from sample s where s.run_id = r.id) is null

-- case: in_union
-- values: conc
select id, conc from run where id in (select run_id from sample union all select id from host)

-- case: exists_having
-- values: conc
select id, conc from run r where exists (select 1 from sample s where s.run_id = r.id group by s.kind having
count(*) > 1)

-- case: in_top
-- values: conc
select id, conc from run where id in (select run_id from sample order by latency desc nulls last, id limit 4)

-- case: in_grouped
-- values: tput
select id, tput from run where conc in (select max(latency) from sample group by kind)

-- case: in_counts
-- values: tput
select id, tput from run where conc in (select count(*) from sample group by kind)

-- case: window_cte_twice
-- values: v
with a as (select host, conc, row_number() over (partition by host order by id) as n from run), b as (select * from
a where n = 1) select x.host, y.conc as v from b x join b y on x.conc = y.conc

-- case: null_side_of_group
-- values: v
select d.host, d.v from (select host, sum(tput) as v from run group by host) d left join host h on h.name = d.host
where h.zone is null

-- case: distinct_first_value
-- values: v
select distinct first_value(conc) over (partition by host order by id) as v, host from run

-- case: count_of_distinct
-- values: v
select count(*) as v from (select distinct host, status from run) d

-- case: full_join_group
-- values: v
select coalesce(h.name, r.host) as k, sum(coalesce(r.conc, h.gpus)) as v from host h full join run r on h.name =
r.host group by 1

-- case: right_chain
-- values: sid
select h.name, r.id, s.id as sid from host h right join run r on r.host = h.name right join sample s on s.run_id =
r.id

-- case: zero_of_missing_group
-- values: v
select h.name, x.n as v from host h left join (select host, count(*) as n from run where tput is null group by host)
x on x.host = h.name where coalesce(x.n, 0) < 1

-- case: null_safe_ratio
-- values: v
select status, sum(tput) / nullif(count(tput), 0) as v from run group by status

-- case: two_limits
-- values: v
select x.id, x.v from (select id, conc as v from run where conc > 1 order by id limit 3) x order by x.v desc, x.id
limit 2

-- case: duplicate_branches
-- values: v
select conc as v from run union all select conc from run

-- case: limited_branches
-- values: v
(select id as v from run order by id limit 2) union all (select id from sample order by id desc limit 2)

-- case: unnest_grouped
-- values: v
select r.host, sum(u.x) as v from run r cross join unnest([r.conc, r.id]) as u(x) group by r.host

-- case: unnest_filtered
-- values: v
select r.id, u.x as v from run r cross join unnest([r.conc, r.id]) as u(x) where u.x > 2

-- case: cte_in_scalar_and_in
-- values: v
with c as (select run_id, max(latency) as m from sample group by run_id) select r.id, r.tput as v from run r where
r.conc <= (select max(m) from c) and r.id in (select run_id from c)

-- case: cte_in_not_exists
-- values: v
with c as (select host, avg(tput) as m from run group by host) select r.id, r.conc as v from run r where not exists
(select 1 from c where c.host = r.host and c.m > r.tput)

-- case: qualify_count
-- values: v
select id, conc as v from run qualify count(*) over (partition by conc) > 1

-- case: qualify_is_max
-- values: v
select id, conc as v from run qualify max(tput) over (partition by host) = tput

-- case: not_condition
-- values: id
select id from run where tput is null or not (conc > 1)

-- case: several_quantiles
-- values: v
select host, quantile_cont(tput, [0.25, 0.75]) as v from run group by host

-- case: top_n_aggregate
-- values: v
select host, max(conc, 2) as v from run group by host

-- case: in_as_value
-- refuse: E_SUBQUERY_CELL
-- values: v
select id, host in (select name from host) as v from run

-- case: exists_in_on
select r.id from run r join host h on h.name = r.host and exists (select 1 from sample s where s.run_id = r.id)

-- case: parenthesised_join
select h.name, r.id from host h left join (run r join sample s on s.run_id = r.id) on r.host = h.name
