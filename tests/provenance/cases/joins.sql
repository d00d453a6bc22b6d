-- case: inner_join
-- values: g
-- row: 1 | 8 ; why 0 = 1 ; why 1 = 1 ; g 1 = gpus@1
-- row: 4 | 8 ; why 0 = 4 ; why 1 = 2 ; g 1 = gpus@2
select r.id, h.gpus as g from run r join host h on h.name = r.host where r.conc = 1 order by r.id

-- case: left_join_null_side
-- values: n
-- row: a | 3 ; why 0 = 1 ; why 1 = 3 ; n 1 = id@3
-- row: b | None ; why 0 = 2
-- row: c | None ; why 0 = 3
select h.name, r.id as n from host h left join run r on r.host = h.name and r.conc = 4 order by 1

-- case: right_join
-- values: c
-- row: a | 3 ; why 0 = 1 ; why 1 = 3 ; c 0 = name@1
-- row: None | 6 ; why 1 = 6
select h.name as c, r.id from host h right join run r on r.host = h.name where r.conc = 4

-- case: full_join
-- values: n, k
-- row: a | 3 ; why 0 = 1 ; why 1 = 3 ; n 0 = name@1 ; k 1 = id@3
-- row: None | 6 ; why 1 = 6 ; k 1 = id@6
-- row: b | None ; why 0 = 2 ; n 0 = name@2
-- row: c | None ; why 0 = 3 ; n 0 = name@3
select h.name as n, r.id as k from host h full join run r on r.host = h.name and r.conc = 4 where coalesce(r.conc, 4) = 4

-- case: cross_join
-- values: p
-- row: 16 ; why 0 = 1 ; why 1 = 2 ; p 0 = gpus@1 ; p 1 = conc@2
-- row: 16 ; why 0 = 2 ; why 1 = 2 ; p 0 = gpus@2 ; p 1 = conc@2
-- row: 2 ; why 0 = 3 ; why 1 = 2 ; p 0 = gpus@3 ; p 1 = conc@2
select h.gpus * r.conc as p from host h cross join run r where r.id = 2

-- case: comma_join
-- values: p
-- row: 16 ; why 0 = 1 ; why 1 = 2 ; p 0 = gpus@1 ; p 1 = conc@2
select h.gpus * r.conc as p from host h, run r where r.id = 2 and h.id = 1

-- case: join_using
-- values: v
-- row: 1 | 9 ; why 0 = 1 ; why 1 = 1 ; v 0 = gpus@1 ; v 1 = conc@1
-- row: 2 | 10 ; why 0 = 2 ; why 1 = 2 ; v 0 = gpus@2 ; v 1 = conc@2
-- row: 3 | 5 ; why 0 = 3 ; why 1 = 3 ; v 0 = gpus@3 ; v 1 = conc@3
select id, gpus + conc as v from host join run using (id) order by id

-- case: full_join_using
-- values: id, k
-- row: 3 | 6 ; why 0 = 3 ; why 1 = 3 ; id 0 = id@3 ; k 1 = latency@3
-- row: 4 | None ; why 1 = 4 ; id 1 = id@4 ; k 1 = latency@4
-- row: 5 | 9 ; why 1 = 5 ; id 1 = id@5 ; k 1 = latency@5
-- row: 6 | 3 ; why 1 = 6 ; id 1 = id@6 ; k 1 = latency@6
select id, s.latency as k from host full join feed.sample s using (id) where id > 2

-- case: right_join_using
-- values: id
-- row: 3 | 6 ; why 0 = 3 ; why 1 = 3 ; id 1 = id@3
-- row: 4 | None ; why 1 = 4 ; id 1 = id@4
-- row: 5 | 9 ; why 1 = 5 ; id 1 = id@5
-- row: 6 | 3 ; why 1 = 6 ; id 1 = id@6
select id, s.latency as k from host right join feed.sample s using (id) where id > 2

-- case: schema_qualified_column
-- values: l
-- row: 5 ; why 0 = 1 ; l 0 = latency@1
select feed.sample.latency as l from feed.sample where feed.sample.id = 1

-- case: star_exclude
-- values: tput
-- row: 1 | a | 10 ; why 0 = 1 ; tput 0 = tput@1
-- row: 2 | a | 20 ; why 0 = 2 ; tput 0 = tput@2
select * exclude (status, conc) from run where id < 3

-- case: table_star
-- values: gpus
-- row: 1 | a | 8 | 1 ; why 0 = 1 ; why 1 = 1 ; gpus 0 = gpus@1
select h.*, r.conc from host h join run r on r.id = h.id where h.id = 1

-- case: star_over_using
-- values: gpus
-- row: 1 | a | 8 | 1 | 10 ; why 0 = 1 ; why 1 = 1 ; gpus 0 = gpus@1
select * exclude (host, status) from host join run using (id) where id = 1

-- case: rows_beside_those_of_a_grouped_cte
-- values: v
-- row: 1 | 22 ; why 0 = 1, 2, 3, 4, 5 ; why 1 = 1, 4 ; v 0 = tput@1, tput@2, tput@4, tput@5 ; v 1 = tput@1, tput@4
-- row: 2 | 38 ; why 0 = 1, 2, 3, 4, 5 ; why 1 = 2, 5 ; v 0 = tput@1, tput@2, tput@4, tput@5 ; v 1 = tput@2, tput@5
with base as (select host, max(tput) as top from run where host is not null group by host)
select r.conc, sum(case when b.top > 0 then r.tput + b.top - b.top end) as v from run r join base b on b.host = r.host where r.conc < 4 group by r.conc

-- case: rows_of_a_grouped_cte_counted_twice
-- values: n
-- row: 4 ; why 0 = 1, 2, 3, 4, 5 ; n 0 = *@1, *@2, *@3, *@4, *@5
with base as (select host from run where host is not null group by host)
select count(*) as n from base a, base b

-- case: a_row_of_a_cte_beside_no_row
-- row: 1 ; why 0 = 1, 2, 4, 5, 6 ; why 1 = 1
-- row: 2 ; why 0 = 1, 2, 4, 5, 6 ; why 1 = 2
-- row: 3 ; why 1 = 3
with mean as (select avg(tput) as m from run where tput is not null)
select h.id from host h left join mean on h.gpus > 4 and m > 0 group by h.id

-- case: a_cte_that_another_of_its_name_hides
-- row: a | 2 ; why 0 = 1, 2, 4, 5, 6 ; why 1 = 1 ; why 2 = 4, 5
with base as (select max(tput) as m from run where tput is not null)
select q.name, q.n from (
    with kept as (select h.name, b.m from host h, base b where h.id = 1), base as (select count(*) as n from run where host = 'b')
    select a.name, base.n from kept a join kept b on a.name = b.name, base where a.m > 0
) as q
