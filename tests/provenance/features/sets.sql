-- case: union_all_two
-- values: v
select id, tput as v from run union all select id, latency from sample

-- case: union_all_same
-- values: v
select id, conc as v from run where conc = 1 union all select id, conc from run where conc > 1

-- case: union_distinct
-- values: v
select host as v from run union select name from host

-- case: union_distinct_numbers
-- values: v
select conc as v from run union select gpus from host

-- case: union_mixed
-- values: v
select conc as v from run union all select gpus from host union select latency from sample

-- case: union_by_name
-- values: v
select id, conc as v from run union all by name select gpus as v, name from host

-- case: union_grouped
-- values: v
select host as k, sum(conc) as v from run group by host union all select zone, sum(gpus) from host group by zone

-- case: group_of_union
-- values: v
select k, sum(v) as v from (select host as k, conc as v from run union all select name, gpus from host) d group by k

-- case: group_of_union_distinct
-- values: v
select k, sum(v) as v from (select host as k, conc as v from run union select name, gpus from host) d group by k

-- case: union_order_limit
-- values: v
select id, conc as v from run union all select id, gpus from host order by v desc, id limit 4

-- case: union_types
-- values: v
select conc as v from run union all select tput from run

-- case: union_three
-- values: v
select host as k, conc as v from run union all select name, gpus from host union all select kind, latency from
sample

-- case: window_of_union
-- values: v
select k, row_number() over (partition by k order by v, w) as v from (select host as k, conc as v, id as w from run
union all select name, gpus, id + 100 from host) d

-- case: intersect
select host from run intersect select name from host

-- case: intersect_columns
select host, conc from run intersect select name, gpus from host

-- case: except_all
-- refuse: E_SETOP
select host from run except all select name from host
