-- case: asof_join
-- values: l
-- row: 1 | 5 ; why 0 = 1 ; why 1 = 1 ; l 1 = latency@1
-- row: 2 | 7 ; why 0 = 2 ; why 1 = 2 ; l 1 = latency@2
-- row: 3 | None ; why 0 = 3 ; why 1 = 4 ; l 1 = latency@4
select r.id, s.latency as l from run r asof join feed.sample s on r.conc >= s.id where r.host = 'a'

-- case: asof_left_join
-- values: l
-- row: 1 | 5 ; why 0 = 1 ; why 1 = 1 ; l 1 = latency@1
-- row: 2 | None ; why 0 = 2
-- row: 3 | None ; why 0 = 3
-- row: 4 | None ; why 0 = 4
-- row: 5 | None ; why 0 = 5
-- row: 6 | None ; why 0 = 6
select r.id, s.latency as l from run r asof left join feed.sample s on s.run_id = r.id and r.conc >= s.id

-- case: asof_join_counted
-- values: n
-- row: 5 ; why 0 = 2, 3, 4, 5, 6 ; why 1 = 1, 2, 3 ; n 1 = id@1, id@2, id@3
select count(h.id) as n from run r asof join host h on r.id > h.id

-- case: asof_join_using
-- values: id, l
-- row: 3 | 6 ; why 0 = 1 ; why 1 = 3 ; id 0 = id@1 ; l 1 = latency@3
-- row: 5 | 9 ; why 0 = 2 ; why 1 = 5 ; id 0 = id@2 ; l 1 = latency@5
-- row: 7 | 3 ; why 0 = 3 ; why 1 = 6 ; id 0 = id@3 ; l 1 = latency@6
select id, s.latency as l from (select id * 2 + 1 as id from host) h asof join feed.sample s using (id)

-- case: asof_join_with_nothing
-- values: n
-- row: 0
select count(*) as n from run r asof join feed.sample s on r.id >= s.id + 10
