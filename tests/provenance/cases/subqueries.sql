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
