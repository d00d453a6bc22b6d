-- case: semi_join
-- values: tput
-- row: 1 | 10 ; why 0 = 1 ; why 1 = 1 ; tput 0 = tput@1
-- row: 2 | 20 ; why 0 = 2 ; why 1 = 1 ; tput 0 = tput@2
-- row: 3 | None ; why 0 = 3 ; why 1 = 1 ; tput 0 = tput@3
-- row: 4 | 12 ; why 0 = 4 ; why 1 = 2 ; tput 0 = tput@4
-- row: 5 | 18 ; why 0 = 5 ; why 1 = 2 ; tput 0 = tput@5
select r.id, tput from run r semi join host h on h.name = r.host and h.gpus = 8

-- case: semi_join_with_several_witnesses
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 1, 2 ; name 0 = name@1
-- row: b ; why 0 = 2 ; why 1 = 4, 5 ; name 0 = name@2
select name from host h semi join run r on r.host = h.name and r.status = 'ok'

-- case: semi_join_using
-- values: status
-- row: 1 | ok ; why 0 = 1 ; why 1 = 1 ; status 0 = status@1
-- row: 2 | ok ; why 0 = 2 ; why 1 = 2 ; status 0 = status@2
-- row: 3 | failed ; why 0 = 3 ; why 1 = 3 ; status 0 = status@3
select id, status from run semi join host using (id)

-- case: semi_join_using_after_using
-- values: gpus
-- row: 2 | 8 ; why 0 = 2 ; why 1 = 2 ; gpus 0 = gpus@2
select id, gpus from host join run using (id) semi join (select 2 as id) s using (id)

-- case: anti_join_using_after_full_join
-- values: id
-- row: 1 ; why 0 = 1 ; why 1 = 1 ; id 0 = id@1
-- row: 6 ; why 1 = 6 ; id 1 = id@6
select id from host full join feed.sample using (id) anti join (select id from run where id between 2 and 5) r using (id)

-- case: anti_join_using_null
-- values: id
-- row: 6 | None ; why 0 = 6 ; id 0 = id@6
select id, host from run anti join (select name as host from host union all select null) h using (host)

-- case: semi_join_using_two_columns
-- values: tput
-- row: 10 ; why 0 = 1 ; why 1 = 1 ; tput 0 = tput@1
-- row: 18 ; why 0 = 5 ; why 1 = 2 ; tput 0 = tput@5
select tput from run semi join (select name as host, id as conc from host) h using (host, conc)

-- case: semi_join_star
-- values: gpus
-- row: 1 | a | 8 ; why 0 = 1 ; why 1 = 1, 4 ; gpus 0 = gpus@1
-- row: 2 | b | 8 ; why 0 = 2 ; why 1 = 2, 5 ; gpus 0 = gpus@2
select * from host h semi join run r on r.conc = h.id

-- case: semi_join_before_group
-- values: n
-- row: 8 | 2 ; why 0 = 1, 2 ; why 1 = 1, 2, 3, 4, 5 ; n 0 = *@1, *@2
select h.gpus, count(*) as n from host h semi join run r on r.host = h.name group by h.gpus

-- case: semi_join_with_groups
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 1, 2, 3 ; name 0 = name@1
select name from host semi join (select host as n, count(*) as c from run group by host) g on g.n = name and g.c > 2

-- case: semi_join_after_comma
-- values: k
-- row: 3 | 1 ; why 0 = 3 ; why 1 = 1 ; why 2 = 2 ; k 1 = id@1
-- row: 3 | 5 ; why 0 = 3 ; why 1 = 5 ; why 2 = 5 ; k 1 = id@5
select h.id, r.id as k from host h, run r semi join feed.sample s on s.run_id = r.id and s.latency > 6 where h.id = 3

-- case: anti_join_keeps_null
-- values: tput
-- row: 6 | 30 ; why 0 = 6 ; tput 0 = tput@6
select r.id, tput from run r anti join host h on h.name = r.host

-- case: anti_join_with_nothing
-- values: name
-- row: a ; why 0 = 1 ; name 0 = name@1
-- row: b ; why 0 = 2 ; name 0 = name@2
-- row: c ; why 0 = 3 ; name 0 = name@3
select name from host h anti join run r on r.host = h.name and r.conc > 9

-- case: anti_join_using
-- values: s
-- row: 60 ; why 0 = 4, 5, 6 ; s 0 = tput@4, tput@5, tput@6
select sum(tput) as s from run anti join host using (id)

-- case: anti_join_in_a_subquery
-- values: name
-- row: c ; why 0 = 3 ; why 1 = 1, 2, 3 ; why 2 = 3 ; name 0 = name@3
select name from host where (select max(r.id) from host r) > 2 and name in (select h.name from host h anti join run r on r.host = h.name)

-- case: semi_left_and_anti_join
-- values: l
-- row: 3 | None ; why 0 = 3 ; why 2 = 1
select r.id, s.latency as l
from run r
semi join host h on h.name = r.host
left join feed.sample s on s.run_id = r.id
anti join host g on g.id = r.conc
