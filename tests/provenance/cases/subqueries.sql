-- case: in_uncorrelated
-- values: tput
-- row: 1 | 10 ; why 0 = 1 ; why 1 = 1 ; tput 0 = tput@1
-- row: 2 | 20 ; why 0 = 2 ; why 1 = 1 ; tput 0 = tput@2
-- row: 3 | None ; why 0 = 3 ; why 1 = 1 ; tput 0 = tput@3
-- row: 4 | 12 ; why 0 = 4 ; why 1 = 2 ; tput 0 = tput@4
-- row: 5 | 18 ; why 0 = 5 ; why 1 = 2 ; tput 0 = tput@5
select id, tput from run where host in (select name from host where gpus = 8) order by id

-- case: in_with_several_witnesses
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 1, 2 ; name 0 = name@1
-- row: b ; why 0 = 2 ; why 1 = 4, 5 ; name 0 = name@2
select name from host where name in (select host from run where status = 'ok')

-- case: not_in
-- values: tput
-- row: 3 | None ; why 0 = 3 ; tput 0 = tput@3
-- row: 6 | 30 ; why 0 = 6 ; tput 0 = tput@6
select id, tput from run where id not in (select run_id from feed.sample where run_id is not null)

-- case: in_correlated
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 1 ; name 0 = name@1
-- row: b ; why 0 = 2 ; why 1 = 4 ; name 0 = name@2
select name from host h where 1 in (select conc from run r where r.host = h.name)

-- case: in_before_aggregate
-- values: s
-- row: 60 ; why 0 = 1, 2, 3, 4, 5 ; why 1 = 1, 2 ; s 0 = tput@1, tput@2, tput@4, tput@5
select sum(tput) as s from run where host in (select name from host)

-- case: exists_correlated
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 2 ; name 0 = name@1
-- row: b ; why 0 = 2 ; why 1 = 5 ; name 0 = name@2
select name from host h where exists (select * from run r where r.host = h.name and r.conc = 2)

-- case: exists_uncorrelated
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 3, 6 ; name 0 = name@1
select name from host where exists (select 1 from run where conc = 4) and id = 1

-- case: not_exists
-- values: name
-- row: c ; why 0 = 3 ; name 0 = name@3
select name from host h where not exists (select 1 from run r where r.host = h.name)

-- case: exists_before_group
-- values: n
-- row: 8 | 2 ; why 0 = 1, 2 ; why 1 = 1, 2, 3, 4, 5 ; n 0 = *@1, *@2
select gpus, count(*) as n from host h where exists (select 1 from run r where r.host = h.name) group by gpus

-- case: scalar_uncorrelated
-- values: d
-- row: 1 | 9 ; why 0 = 1 ; why 1 = 1, 2, 3 ; d 0 = tput@1 ; d 1 = gpus@1, gpus@2, gpus@3
-- row: 2 | 19 ; why 0 = 2 ; why 1 = 1, 2, 3 ; d 0 = tput@2 ; d 1 = gpus@1, gpus@2, gpus@3
select id, tput - (select min(gpus) from host) as d from run where id < 3

-- case: scalar_in_where
-- values: tput
-- row: 2 | 20 ; why 0 = 2 ; why 1 = 1, 2, 3, 4, 5, 6 ; tput 0 = tput@2
-- row: 6 | 30 ; why 0 = 6 ; why 1 = 1, 2, 3, 4, 5, 6 ; tput 0 = tput@6
select id, tput from run where tput > (select max(latency) * 2 from feed.sample)

-- case: scalar_correlated
-- values: m
-- row: a | 20 ; why 0 = 1 ; why 1 = 1, 2, 3 ; m 1 = tput@1, tput@2
-- row: b | 18 ; why 0 = 2 ; why 1 = 4, 5 ; m 1 = tput@4, tput@5
-- row: c | None ; why 0 = 3
select name, (select max(tput) from run r where r.host = h.name) as m from host h

-- case: scalar_correlated_in_where
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 1, 2, 3 ; name 0 = name@1
-- row: b ; why 0 = 2 ; why 1 = 4, 5 ; name 0 = name@2
-- row: c ; why 0 = 3 ; name 0 = name@3
select name from host h where h.gpus > (select count(*) from run r where r.host = h.name)

-- case: scalar_after_aggregate
-- values: v
-- row: None | 5 ; why 0 = 6 ; why 1 = 1, 2, 3 ; v 0 = conc@6 ; v 1 = id@1, id@2, id@3
-- row: a | 8 ; why 0 = 1, 2, 3 ; why 1 = 1, 2, 3 ; v 0 = conc@1, conc@2, conc@3 ; v 1 = id@1, id@2, id@3
-- row: b | 4 ; why 0 = 4, 5 ; why 1 = 1, 2, 3 ; v 0 = conc@4, conc@5 ; v 1 = id@1, id@2, id@3
select host, sum(conc) + (select min(id) from host) as v from run group by host

-- case: scalar_in_having
-- values: host
-- row: a | 7 ; why 0 = 1, 2, 3 ; why 1 = 1, 2, 3 ; host 0 = host@1, host@2, host@3
select host, sum(conc) as s from run group by host having sum(conc) > (select min(gpus) + 4 from host)

-- case: subquery_of_cte
-- values: tput
-- row: 30 ; why 0 = 1, 2, 4, 5, 6 ; why 1 = 6 ; tput 1 = tput@6
with ok as (select host, tput from run where status = 'ok') select tput from run where tput = (select max(tput) from ok)

-- case: in_after_comma_join
-- values: v
-- row: 2 ; why 0 = 2 ; why 1 = 1 ; why 2 = 3 ; v 0 = conc@2
-- row: 2 ; why 0 = 5 ; why 1 = 2 ; why 2 = 5 ; v 0 = conc@5
-- row: 1 ; why 0 = 1 ; why 1 = 1 ; why 2 = 1, 2 ; v 0 = conc@1
-- row: 1 ; why 0 = 4 ; why 1 = 2 ; why 2 = 4 ; v 0 = conc@4
select r.conc as v from run r, host h where r.host = h.name and r.id in (select run_id from feed.sample)

-- case: nested_in
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 1, 2 ; why 2 = 2, 3 ; name 0 = name@1
-- row: b ; why 0 = 2 ; why 1 = 5 ; why 2 = 5 ; name 0 = name@2
select name from host where name in (select host from run where id in (select run_id from feed.sample where latency > 5))

-- case: doubly_nested_correlation
-- values: x
-- row: 6 | 0 ; why 0 = 6
-- row: 3 | 1 ; why 0 = 3 ; why 1 = 2 ; why 2 = 1, 2, 3 ; x 1 = *@2
-- row: 5 | 1 ; why 0 = 5 ; why 1 = 5 ; why 2 = 4, 5 ; x 1 = *@5
-- row: 2 | 1 ; why 0 = 2 ; why 1 = 2 ; why 2 = 1, 2, 3 ; x 1 = *@2
-- row: 4 | 1 ; why 0 = 4 ; why 1 = 5 ; why 2 = 4, 5 ; x 1 = *@5
-- row: 1 | 1 ; why 0 = 1 ; why 1 = 2 ; why 2 = 1, 2, 3 ; x 1 = *@2
select id, (select count(*) from run k where k.host = r.host and k.tput > (select avg(j.tput) from run j where j.host = k.host)) as x from run r

-- case: exists_or_condition
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 1, 2 ; name 0 = name@1
-- row: b ; why 0 = 2 ; why 1 = 4, 5 ; name 0 = name@2
-- row: c ; why 0 = 3 ; name 0 = name@3
select name from host h where not exists (select 1 from run r where r.host = h.name and r.status = 'ok') or h.gpus = 8

-- case: constant_of_empty_group
-- values: n
-- row: 0 ; why 1 = 1, 2, 3
select count(*) as n from run where conc > 100 and tput > (select max(gpus) from host)

-- case: in_a_tuple
-- values: v
-- row: 1 | 1 ; why 0 = 1 ; why 1 = 1 ; v 0 = conc@1
-- row: 5 | 2 ; why 0 = 5 ; why 1 = 2 ; v 0 = conc@5
select id, conc as v from run where (host, conc) in (select name, id from host)

-- case: in_a_tuple_with_several_witnesses
-- values: n
-- row: 2 ; why 0 = 1, 2 ; why 1 = 1, 2, 4, 5 ; n 0 = *@1, *@2
select count(*) as n from host where (name, 'ok') in (select host, status from run)

-- case: not_in_a_tuple
-- values: v
-- row: 1 | 1 ; why 0 = 1 ; v 0 = conc@1
-- row: 2 | 2 ; why 0 = 2 ; v 0 = conc@2
select id, conc as v from run where (id, conc) not in (select id, gpus from host) and id < 3

-- case: in_a_column_called_like_the_table
-- values: name
-- row: c ; why 0 = 3 ; name 0 = name@3
select name from host where name not in (select r.host from run r where r.host is not null and r.id > gpus - 8)

-- case: greater_than_all
-- values: tput
-- row: 20 ; why 0 = 2 ; why 1 = 1, 2, 3, 5, 6 ; tput 0 = tput@2
-- row: 30 ; why 0 = 6 ; why 1 = 1, 2, 3, 5, 6 ; tput 0 = tput@6
select tput from run where tput > all (select latency * 2 from feed.sample where latency is not null)

-- case: greater_than_all_of_nothing
-- values: id
-- row: 1 ; why 0 = 1 ; id 0 = id@1
-- row: 2 ; why 0 = 2 ; id 0 = id@2
-- row: 3 ; why 0 = 3 ; id 0 = id@3
select id from host where id > all (select id from run where conc > 9)

-- case: less_than_any
-- values: id
-- row: 1 ; why 0 = 1 ; why 1 = 1, 2, 3 ; id 0 = id@1
-- row: 2 ; why 0 = 2 ; why 1 = 1, 2, 3 ; id 0 = id@2
select id from run where id < any (select id from host)

-- case: equal_to_any
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 1, 4 ; name 0 = name@1
-- row: b ; why 0 = 2 ; why 1 = 2, 5 ; name 0 = name@2
select name from host where id = any (select conc from run)

-- case: equal_to_any_correlated
-- values: id
-- row: 1 ; why 0 = 1 ; why 1 = 1, 4 ; id 0 = id@1
select id from host h where 8 = any (select h.gpus from run r where r.conc = h.id) and id = 1

-- case: equal_to_any_of_a_list
-- values: id
-- row: 1 ; why 0 = 1 ; id 0 = id@1
-- row: 2 ; why 0 = 2 ; id 0 = id@2
select id from run where id = any([1, 2])

-- case: scalar_of_the_group
-- values: g
-- row: None | 4 | None ; why 0 = 6
-- row: a | 7 | 8 ; why 0 = 1, 2, 3 ; why 1 = 1 ; g 1 = gpus@1
-- row: b | 3 | 8 ; why 0 = 4, 5 ; why 1 = 2 ; g 1 = gpus@2
select host, sum(conc) as s, (select max(h.gpus) from host h where h.name = run.host) as g from run group by host

-- case: having_correlated
-- values: s
-- row: b | 3 ; why 0 = 4, 5 ; why 1 = 2 ; s 0 = conc@4, conc@5
select host, sum(conc) as s from run group by host
having min(id) > (select max(h.id) from host h where h.name = run.host)

-- case: having_key_in
-- values: s
-- row: a | 7 ; why 0 = 1, 2, 3 ; why 1 = 1 ; s 0 = conc@1, conc@2, conc@3
-- row: b | 3 ; why 0 = 4, 5 ; why 1 = 2 ; s 0 = conc@4, conc@5
select host, sum(conc) as s from run group by host having host in (select name from host)

-- case: having_not_exists
-- values: n
-- row: None | 1 ; why 0 = 6 ; n 0 = *@6
select host, count(*) as n from run group by host having not exists (select 1 from host h where h.name = run.host)

-- case: sum_of_a_subquery
-- values: v
-- row: None | None ; why 0 = 6
-- row: a | 24 ; why 0 = 1, 2, 3 ; why 1 = 1 ; v 1 = gpus@1
-- row: b | 16 ; why 0 = 4, 5 ; why 1 = 2 ; v 1 = gpus@2
select host, sum((select max(h.gpus) from host h where h.name = r.host)) as v from run r group by host

-- case: filter_with_in
-- values: v
-- row: 10 ; why 0 = 1, 2, 3, 4, 5, 6 ; why 1 = 1, 2 ; v 0 = conc@1, conc@2, conc@3, conc@4, conc@5
select sum(conc) filter (where host in (select name from host)) as v from run

-- case: subquery_in_a_subquery_of_a_sum
-- values: v
-- row: a | 29 ; why 0 = 1 ; why 1 = 1, 2 ; why 2 = 1, 2, 3 ; v 0 = gpus@1 ; v 2 = latency@1, latency@2, latency@3
-- row: b | 17 ; why 0 = 2 ; why 1 = 4, 5 ; why 2 = 4, 5 ; v 0 = gpus@2 ; v 2 = latency@5
select name, (
    select sum((select max(s.latency) + h.gpus from feed.sample s where s.run_id = r.id))
    from run r where r.host = h.name and r.conc < 3
) as v
from host h where id < 3

-- case: in_within_inner_join
-- values: l
-- row: 1 | 5 ; why 0 = 1 ; why 1 = 1 ; why 2 = 1 ; l 1 = latency@1
-- row: 1 | 7 ; why 0 = 1 ; why 1 = 2 ; why 2 = 1 ; l 1 = latency@2
-- row: 2 | 6 ; why 0 = 2 ; why 1 = 3 ; why 2 = 1 ; l 1 = latency@3
select r.id, s.latency as l from run r join feed.sample s on s.run_id = r.id and r.host in (select name from host where id = 1)

-- case: one_value_for_all_rows_of_a_derived_table
-- row: a | 2 ; why 0 = 1, 2 ; why 1 = 1, 2, 3, 5
-- row: b | 2 ; why 0 = 4, 5 ; why 1 = 1, 2, 3, 5
-- row: None | 1 ; why 0 = 6 ; why 1 = 1, 2, 3, 5
select k, count(*) as n
from (select substr(host, 1, 1) as k from run where tput > (select avg(latency) from feed.sample where latency > 3)) q
group by k order by k nulls last

-- case: one_value_that_rests_on_another
-- row: 6 ; why 0 = 6 ; why 1 = 2, 5, 6 ; why 2 = 1, 2, 3, 5
select id from run
where tput > (select max(tput) - 1 from run where tput > 2 * (select avg(latency) from feed.sample where latency > 3))

-- case: in_that_is_asked_whether_it_is_null
-- row: 1 ; why 0 = 1 ; why 1 = 1
-- row: 4 ; why 0 = 4
select id from run where id in (1, 4, 6) and not ((host in (select name from host where gpus > 1 and name <> 'b')) is null)

-- case: in_of_a_cte_that_only_a_part_of_the_query_sees
-- row: 1 ; why 0 = 1 ; why 1 = 1
-- row: 4 ; why 0 = 2 ; why 1 = 4
select id from (with c as (select name from host where gpus = 8) select id from run where conc = 1 and host in (select name from c)) as s

-- case: one_subquery_of_a_cte_asked_twice
-- row: 1 ; why 0 = 1, 4 ; why 1 = 1, 2 ; why 2 = 1
-- row: 2 ; why 0 = 2, 5 ; why 1 = 1, 2 ; why 2 = 2
with c as (select conc, gpus from run join host on host.name = run.host where gpus = 8)
select id from host where id in (select conc from c) and id in (select conc from c)
