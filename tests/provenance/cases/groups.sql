-- case: group_by_column
-- values: s, host
-- row: None | 30 ; why 0 = 6 ; s 0 = tput@6 ; host 0 = host@6
-- row: a | 30 ; why 0 = 1, 2, 3 ; s 0 = tput@1, tput@2 ; host 0 = host@1, host@2, host@3
-- row: b | 30 ; why 0 = 4, 5 ; s 0 = tput@4, tput@5 ; host 0 = host@4, host@5
select host, sum(tput) as s from run group by host

-- case: group_by_expression
-- values: up, c
-- row: A | 3 ; why 0 = 1, 2, 3 ; up 0 = host@1, host@2, host@3 ; c 0 = *@1, *@2, *@3
-- row: B | 2 ; why 0 = 4, 5 ; up 0 = host@4, host@5 ; c 0 = *@4, *@5
-- row: None | 1 ; why 0 = 6 ; up 0 = host@6 ; c 0 = *@6
select upper(host) as up, count(*) as c from run group by upper(host)

-- case: group_by_alias
-- values: c
-- row: False | 2 ; why 0 = 1, 4 ; c 0 = tput@1, tput@4
-- row: True | 3 ; why 0 = 2, 3, 5, 6 ; c 0 = tput@2, tput@5, tput@6
select conc > 1 as many, count(tput) as c from run group by many

-- case: group_by_alias_prefers_column
-- values: c
-- row: None | 1 ; why 0 = 6 ; c 0 = *@6
-- row: A | 3 ; why 0 = 1, 2, 3 ; c 0 = *@1, *@2, *@3
-- row: B | 2 ; why 0 = 4, 5 ; c 0 = *@4, *@5
select upper(host) as host, count(*) as c from run group by run.host

-- case: group_by_position
-- values: m
-- row: ok | 1 | 12 ; why 0 = 1, 4 ; m 0 = tput@1, tput@4
-- row: ok | 2 | 20 ; why 0 = 2, 5 ; m 0 = tput@2, tput@5
-- row: failed | 4 | None ; why 0 = 3
-- row: ok | 4 | 30 ; why 0 = 6 ; m 0 = tput@6
select status, conc, max(tput) as m from run group by 1, 2

-- case: group_by_all
-- values: m
-- row: ok | 11 ; why 0 = 1, 2, 4, 5, 6 ; m 0 = tput@1, tput@2, tput@4, tput@5, tput@6
-- row: failed | None ; why 0 = 3
select status, min(tput) + 1 as m from run group by all

-- case: group_key_inside_expression
-- values: v
-- row: a! | 3 ; why 0 = 1, 2, 3 ; v 0 = host@1, host@2, host@3
-- row: b! | 2 ; why 0 = 4, 5 ; v 0 = host@4, host@5
-- row: None | 1 ; why 0 = 6 ; v 0 = host@6
select lower(upper(host)) || '!' as v, count(*) as c from run group by upper(host)

-- case: global_aggregate
-- values: m
-- row: 18.0 | 5 ; why 0 = 1, 2, 4, 5, 6 ; m 0 = tput@1, tput@2, tput@4, tput@5, tput@6
select avg(tput) as m, count(*) as n from run where status = 'ok'

-- case: global_aggregate_of_nothing
-- values: n
-- row: 0
select count(*) as n from run where conc > 100

-- case: filter_clause
-- values: ok, bad
-- row: None | 1 | 0 ; why 0 = 6 ; ok 0 = *@6
-- row: a | 2 | 1 ; why 0 = 1, 2, 3 ; ok 0 = *@1, *@2 ; bad 0 = *@3
-- row: b | 2 | 0 ; why 0 = 4, 5 ; ok 0 = *@4, *@5
select host, count(*) filter (where status = 'ok') as ok, count(*) filter (where status = 'failed') as bad from run group by host

-- case: filtered_sum
-- values: s
-- row: None | 30 ; why 0 = 6 ; s 0 = tput@6
-- row: a | 20 ; why 0 = 1, 2, 3 ; s 0 = tput@2
-- row: b | 18 ; why 0 = 4, 5 ; s 0 = tput@5
select host, sum(tput) filter (where conc >= 2) as s from run group by host

-- case: distinct_aggregate
-- values: n
-- row: 2 ; why 0 = 1, 2, 3, 4, 5, 6 ; n 0 = host@1, host@2, host@3, host@4, host@5
select count(distinct host) as n from run

-- case: ordered_aggregate
-- values: l
-- row: ok | [10, 20, 12, 18, 30] | a,a,b,b ; why 0 = 1, 2, 4, 5, 6 ; l 0 = tput@1, tput@2, tput@4, tput@5, tput@6
-- row: failed | [None] | a ; why 0 = 3 ; l 0 = tput@3
select status, list(tput order by id) as l, string_agg(host, ',' order by id) as h from run group by status

-- case: arg_max
-- values: best
-- row: None | 4 | 6 ; why 0 = 6 ; best 0 = conc@6
-- row: a | 2 | 2 ; why 0 = 1, 2, 3 ; best 0 = conc@1, conc@2
-- row: b | 2 | 5 ; why 0 = 4, 5 ; best 0 = conc@4, conc@5
select host, arg_max(conc, tput) as best, max_by(id, tput) as again from run group by host

-- case: quantile
-- values: q
-- row: None | 30.0 ; why 0 = 6 ; q 0 = tput@6
-- row: a | 15.0 ; why 0 = 1, 2, 3 ; q 0 = tput@1, tput@2
-- row: b | 15.0 ; why 0 = 4, 5 ; q 0 = tput@4, tput@5
select host, quantile_cont(tput, 0.5) as q from run group by host

-- case: within_group
-- values: q
-- row: None | 30.0 ; why 0 = 6 ; q 0 = tput@6
-- row: a | 15.0 ; why 0 = 1, 2, 3 ; q 0 = tput@1, tput@2
-- row: b | 15.0 ; why 0 = 4, 5 ; q 0 = tput@4, tput@5
select host, percentile_cont(0.5) within group (order by tput) as q from run group by host

-- case: two_argument_aggregate
-- values: c
-- row: 0.985104109993904 ; why 0 = 1, 2, 3, 4, 5, 6 ; c 0 = conc@1, conc@2, conc@4, conc@5, conc@6, tput@1, tput@2, tput@4, tput@5, tput@6
select corr(conc, tput) as c from run

-- case: having
-- values: s
-- row: a | 7 ; why 0 = 1, 2, 3 ; s 0 = conc@1, conc@2, conc@3
-- row: b | 3 ; why 0 = 4, 5 ; s 0 = conc@4, conc@5
select host, sum(conc) as s from run group by host having count(*) > 1

-- case: aggregate_after_join
-- values: s
-- row: 8 | 10 ; why 0 = 1, 2 ; why 1 = 1, 2, 3, 4, 5 ; s 1 = conc@1, conc@2, conc@3, conc@4, conc@5
select h.gpus, sum(r.conc) as s from host h join run r on r.host = h.name group by h.gpus

-- case: aggregate_after_left_join
-- values: n, s
-- row: a | 3 | 30 ; why 0 = 1 ; why 1 = 1, 2, 3 ; n 1 = id@1, id@2, id@3 ; s 1 = tput@1, tput@2
-- row: b | 2 | 30 ; why 0 = 2 ; why 1 = 4, 5 ; n 1 = id@4, id@5 ; s 1 = tput@4, tput@5
-- row: c | 0 | None ; why 0 = 3
select h.name, count(r.id) as n, sum(r.tput) as s from host h left join run r on r.host = h.name group by h.name

-- case: count_star_after_left_join
-- values: n
-- row: a | 3 ; why 0 = 1 ; why 1 = 1, 2, 3 ; n 0 = *@1 ; n 1 = *@1, *@2, *@3
-- row: b | 2 ; why 0 = 2 ; why 1 = 4, 5 ; n 0 = *@2 ; n 1 = *@4, *@5
-- row: c | 1 ; why 0 = 3 ; n 0 = *@3
select h.name, count(*) as n from host h left join run r on r.host = h.name group by h.name

-- case: case_over_aggregates
-- values: v
-- row: None | 4 ; why 0 = 6 ; v 0 = conc@6
-- row: a | 20 ; why 0 = 1, 2, 3 ; v 0 = tput@1, tput@2
-- row: b | 1 ; why 0 = 4, 5 ; v 0 = conc@4, conc@5
select host, case when count(*) > 2 then max(tput) else min(conc) end as v from run group by host

-- case: lateral_alias
-- values: h
-- row: 30 | 10.0 ; why 0 = 1, 2, 3 ; h 0 = *@1, *@2, *@3, tput@1, tput@2
select sum(tput) as s, s / count(*) as h from run where host = 'a'

-- case: distinct
-- values: host, status
-- row: a | failed ; why 0 = 3 ; host 0 = host@3 ; status 0 = status@3
-- row: a | ok ; why 0 = 1, 2 ; host 0 = host@1, host@2 ; status 0 = status@1, status@2
-- row: b | ok ; why 0 = 4, 5 ; host 0 = host@4, host@5 ; status 0 = status@4, status@5
-- row: None | ok ; why 0 = 6 ; host 0 = host@6 ; status 0 = status@6
select distinct host, status from run order by host, status

-- case: distinct_order_position
-- values: host
-- row: a ; why 0 = 1, 2, 3 ; host 0 = host@1, host@2, host@3
-- row: b ; why 0 = 4, 5 ; host 0 = host@4, host@5
select distinct host from run order by 1 limit 2

-- case: string_agg_distinct
-- values: s
-- row: a,b ; why 0 = 1, 2, 3, 4, 5, 6 ; s 0 = host@1, host@2, host@3, host@4, host@5
select string_agg(distinct host, ',' order by host) as s from run

-- case: filtered_arg_max
-- values: b
-- row: 2 ; why 0 = 1, 2, 3, 4, 5, 6 ; b 0 = id@1, id@2, id@4, id@5
select arg_max(id, tput) filter (where conc < 4) as b from run

-- case: count_star_over_groups
-- values: n
-- row: 3 ; why 0 = 1, 2, 3, 4, 5, 6 ; n 0 = *@1, *@2, *@3, *@4, *@5, *@6
select count(*) as n from (select host from run group by host) g

-- case: grouped_cte_joined_by_its_key
-- values: m
-- row: 8 | 20 ; why 0 = 1, 2, 3, 4, 5 ; why 1 = 1, 2 ; m 0 = tput@1, tput@2, tput@4, tput@5
with per_host as (select host, max(tput) as top from run group by host)
select h.gpus, max(p.top) as m from per_host p join host h on h.name = p.host group by h.gpus

-- case: count_of_counts
-- row: 0 | 1 ; why 0 = 3
-- row: 2 | 1 ; why 0 = 2 ; why 1 = 4, 5
-- row: 3 | 1 ; why 0 = 1 ; why 1 = 1, 2, 3
select n, count(*) as hosts
from (select h.name, count(r.id) as n from host h left join run r on r.host = h.name group by h.name) q
group by n order by n

-- case: group_by_what_a_left_join_in_parentheses_leaves_empty
-- row: None | 1 ; why 0 = 3
-- row: 2 | 1 ; why 0 = 2 ; why 1 = 4, 5
-- row: 3 | 1 ; why 0 = 1 ; why 1 = 1, 2, 3
select q.n, count(*) as hosts
from (host h left join (select host, count(*) as n from run group by host) q on q.host = h.name)
group by q.n order by q.n nulls first

-- case: texts_between_dollars
-- values: s
-- row: it's a \n | 30 ; why 0 = 1, 2 ; s 0 = tput@1, tput@2
select $x$it's $x$ || host || $$ \n$$ as host, sum(tput) as s from run where host = $$a$$ and status = $tag$ok$tag$ group by 1
