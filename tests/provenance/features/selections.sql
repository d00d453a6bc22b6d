-- case: project
-- values: conc, tput
select conc, tput from run

-- case: filter
-- values: tput
select id, tput from run where conc >= 2

-- case: filter_or_null
-- values: tput
select id, tput from run where status = 'ok' or host is null

-- case: arithmetic
-- values: v
select id, conc * 2 + tput as v from run

-- case: coalesce_two
-- values: v
select id, coalesce(tput, conc) as v from run

-- case: coalesce_three
-- values: v
select s.id, coalesce(s.latency, r.tput, r.conc) as v from sample s left join run r on r.id = s.run_id

-- case: case_branches
-- values: v
select id, case when status = 'ok' then tput else conc end as v from run

-- case: case_simple
-- values: v
select id, case conc when 1 then tput when 2 then tput * 2 else conc end as v from run

-- case: case_constant
-- values: v
select id, case when conc > 2 then 'high' else 'low' end as v from run

-- case: if_function
-- values: v
select id, if(conc > 2, tput, conc) as v from run

-- case: nullif_value
-- values: v
select id, nullif(conc, 4) as v from run

-- case: between
-- values: tput
select id, tput from run where conc between 2 and 4

-- case: in_list
-- values: tput
select id, tput from run where host in ('a', 'b')

-- case: like
-- values: name
select id, name from host where name like 'a%'

-- case: cast
-- values: v
select id, cast(tput as integer) as v from run

-- case: struct_field
-- values: v
select id, p.t as v from (select id, {'t': tput, 'c': conc} as p from run) d

-- case: order_only
-- values: tput
select id, tput from run order by tput nulls last, id

-- case: order_limit
-- values: tput
select id, tput from run order by tput desc nulls last, id limit 3

-- case: star
select * from run where conc = 2

-- case: star_exclude
-- values: tput
select * exclude (status) from run

-- case: unnest_list
-- values: v
select r.id, u.item as v from run r, unnest([r.conc, r.conc + 1]) as u(item)

-- case: values_join
-- values: v
select r.id, r.conc + k.w as v from run r join (values (1, 10), (2, 20)) as k(c, w) on k.c = r.conc

-- case: range_join
-- values: v
select r.id, g.i as v from run r join range(0, 3) as g(i) on g.i = r.conc

-- case: string_concat
-- values: v
select id, name || '-' || zone as v from host

-- case: list_comprehension
-- values: v
select id, [x * 2 for x in [conc, 1]] as v from run

-- case: boolean_value
-- values: v
select id, tput > 10 as v from run

-- case: unpivot_by_hand
-- values: v
select id, 'conc' as what, conc as v from run union all select id, 'tput', tput from run

-- case: distinct_rows
-- values: conc
select distinct host, conc from run

-- case: distinct_ordered
-- values: conc
select distinct conc from run order by conc

-- case: offset
-- values: id
select id from run order by id limit 2 offset 1

-- case: offset_of_groups
-- values: n
select host, count(*) as n from run group by host order by n desc, 1 offset 1

-- case: offset_of_a_join
-- values: tput
select r.id, h.id as hid, r.tput from run r join host h on r.conc >= h.gpus order by r.tput desc nulls last, 1, 2 limit 4 offset 2

-- case: order_all
select host, conc from run order by all

-- case: distinct_on
select distinct on (host) host, tput from run order by host, tput desc nulls last, id

-- case: distinct_on_last
-- values: tput
select distinct on (host) host, id, tput from run order by host, id desc

-- case: distinct_on_join
-- values: latency
select distinct on (r.host) r.host, s.id, s.latency from run r join sample s on s.run_id = r.id order by r.host,
s.latency, s.id

-- case: distinct_on_in_cte
-- values: v
with last as (select distinct on (host) host, id, conc from run order by host, id desc) select sum(conc) as v from
last

-- case: distinct_on_two_keys
-- values: conc
select distinct on (host, status) host, status, id, conc from run order by host, status, id

-- case: distinct_on_group
-- values: v
select distinct on (host) host, status, sum(conc) as v from run group by host, status order by host, sum(conc), status

-- case: unnamed_sum
-- values: sum(conc)
select host, sum(conc) from run group by host
