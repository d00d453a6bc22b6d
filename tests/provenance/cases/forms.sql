-- case: cte_of_values
-- values: b
-- row: 1 | 2 ; why 0 = 1
with w(a, b) as (values (1, 2), (7, 4)) select r.id, w.b from run r join w on w.a = r.id

-- case: values_by_their_own_names
-- values: col1
-- row: 2 | 5 ; why 0 = 2
select r.id, col1 from run r join (values (2, 5)) on col0 = r.id

-- case: values_named_in_part
-- values: n
-- row: 2 | 5 ; why 0 = 2
select v.n, v.col1 from run r join (values (2, 5)) as v(n) on v.n = r.id

-- case: order_by_all
-- values: conc
-- row: 1 | 4 ; why 0 = 4 ; conc 0 = conc@4
-- row: 1 | 1 ; why 0 = 1 ; conc 0 = conc@1
select conc, id from run order by all limit 2

-- case: order_by_all_downwards
-- values: id
-- row: 6 ; why 0 = 6 ; id 0 = id@6
select id from run order by all desc limit 1

-- case: order_by_all_of_a_union
-- values: id
-- row: 1 ; why 0 = 1 ; id 0 = id@1
-- row: 1 ; why 1 = 1 ; id 1 = id@1
select id from run union all select id from host order by all limit 2

-- case: order_by_all_of_groups
-- values: n
-- row: a | 3 ; why 0 = 1, 2, 3 ; n 0 = *@1, *@2, *@3
select host, count(*) as n from run group by all order by all limit 1

-- case: fetch_first
-- values: tput
-- row: 6 | 30 ; why 0 = 6 ; tput 0 = tput@6
-- row: 5 | 18 ; why 0 = 5 ; tput 0 = tput@5
select id, tput from run order by id desc fetch first 2 rows only

-- case: fetch_next_row
-- row: 1 ; why 0 = 1
select id from run order by id fetch next row only

-- case: nested_exists_of_stars
-- values: id
-- row: 1 ; why 0 = 1 ; why 1 = 1, 2 ; why 2 = 1, 2, 3 ; id 0 = id@1
-- row: 2 ; why 0 = 2 ; why 1 = 4, 5 ; why 2 = 4, 5 ; id 0 = id@2
select id from host h where exists (select * from run r where r.host = h.name and exists (select * from feed.sample s where s.run_id = r.id))

-- case: exists_of_a_star_within_in
-- values: id
-- row: 4 ; why 0 = 4 ; why 1 = 2 ; why 2 = 4, 5 ; id 0 = id@4
-- row: 5 ; why 0 = 5 ; why 1 = 2 ; why 2 = 4, 5 ; id 0 = id@5
select id from run where host in (select name from host h where name = 'b' and exists (select r.* from run r where r.host = h.name))

-- case: geomean
-- values: g
-- row: a | 14 ; why 0 = 1, 2, 3 ; g 0 = tput@1, tput@2
select host, round(geomean(tput))::integer as g from run where host = 'a' group by host

-- case: weighted_avg
-- values: w
-- row: 14 ; why 0 = 4, 5, 6 ; w 0 = conc@4, conc@5, tput@4, tput@5
select weighted_avg(tput, weight)::integer as w from (select *, nullif(conc, 4) * case conc when 1 then 4 else 1 end as weight from run where id > 3)

-- case: wavg_of_absent_values
-- values: w
-- row: a | 17 ; why 0 = 1, 2, 3 ; w 0 = conc@1, conc@2, tput@1, tput@2
select host, round(wavg(tput, conc))::integer as w from run where host = 'a' group by host

-- case: unpivot
-- values: name, value
-- row: 2 | a | ok | conc | 2 ; why 0 = 2 ; value 0 = conc@2
-- row: 2 | a | ok | tput | 20 ; why 0 = 2 ; value 0 = tput@2
-- row: 3 | a | failed | conc | 4 ; why 0 = 3 ; value 0 = conc@3
with r as (select * from run where id in (2, 3)), u as (unpivot r on Conc, tput) select * from u

-- case: unpivot_in_from_with_nulls
-- values: v
-- row: 3 | conc | 4 ; why 0 = 3 ; v 0 = conc@3
-- row: 3 | tput | None ; why 0 = 3 ; v 0 = tput@3
select u.id, u.k, u.v from run unpivot include nulls (v for k in (conc, tput)) as u where u.id = 3

-- case: unpivot_grouped
-- values: most
-- row: conc | 4 ; why 0 = 1, 2, 3, 4, 5, 6 ; most 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
-- row: tput | 30 ; why 0 = 1, 2, 4, 5, 6 ; most 0 = tput@1, tput@2, tput@4, tput@5, tput@6
select metric, max(v) as most from (unpivot run on conc, tput into name metric value v) group by metric

-- case: having_aggregate_in
-- values: s
-- row: a | 7 ; why 0 = 1, 2, 3 ; why 1 = 1, 2, 3 ; s 0 = conc@1, conc@2, conc@3
-- row: b | 3 ; why 0 = 4, 5 ; why 1 = 1, 2, 3 ; s 0 = conc@4, conc@5
-- row: None | 4 ; why 0 = 6 ; why 1 = 1, 2, 3 ; s 0 = conc@6
select host, sum(conc) as s from run group by host having count(*) in (select id from host)

-- case: qualify_window_in
-- values: id
-- row: 5 ; why 0 = 1, 2, 3, 4, 5 ; why 1 = 5 ; id 0 = id@5
select id from run qualify row_number() over (order by id) in (select id from feed.sample where latency = 9)

-- case: in_of_an_outer_join
-- values: gpus
-- row: 3 | None ; why 0 = 3 ; why 2 = 1, 2
-- row: 4 | 8 ; why 0 = 4 ; why 1 = 2 ; why 2 = 1, 2 ; gpus 1 = gpus@2
select r.id, h.gpus from run r left join host h on h.name = r.host and r.conc in (select gpus - 7 from host where gpus = 8) where r.id in (3, 4)

-- case: in_without_a_row
-- row: True ; why 0 = 1, 2, 3, 4, 5, 6
select 1 in (select id from run) as x

-- case: order_by_a_correlated_subquery
-- values: tput
-- row: 5 | 18 ; why 0 = 5 ; tput 0 = tput@5
select id, tput from run r order by (select max(latency) from feed.sample s where s.run_id = r.id) desc nulls last, id limit 1

-- case: order_by_membership
-- values: id
-- row: 3 ; why 0 = 3 ; id 0 = id@3
select id from run order by id in (select run_id from feed.sample), id limit 1

-- case: grouping_id
-- values: s, g
-- row: a | 0 | 7 ; why 0 = 1, 2, 3 ; s 0 = conc@1, conc@2, conc@3
-- row: b | 0 | 3 ; why 0 = 4, 5 ; s 0 = conc@4, conc@5
-- row: None | 1 | 10 ; why 0 = 1, 2, 3, 4, 5 ; s 0 = conc@1, conc@2, conc@3, conc@4, conc@5
select host, grouping_id(host) as g, sum(conc) as s from run where host is not null group by rollup (host)

-- case: sorted_list
-- values: l
-- row: a | [10, 20] ; why 0 = 1, 2, 3 ; l 0 = tput@1, tput@2
select host, list_sort(list(tput) filter (tput is not null)) as l from run where host = 'a' group by host

-- case: sorted_list_downwards
-- values: l
-- row: [2, 1] ; why 0 = 4, 5 ; l 0 = conc@4, conc@5
select list_reverse_sort(array_agg(distinct conc)) as l from run where host = 'b'

-- case: sorted_list_of_a_window
-- values: l
-- row: 4 | [1, 2] ; why 0 = 4, 5 ; l 0 = conc@4, conc@5
-- row: 5 | [1, 2] ; why 0 = 4, 5 ; l 0 = conc@4, conc@5
select id, list_sort(list(conc) over (partition by host)) as l from run where host = 'b'
