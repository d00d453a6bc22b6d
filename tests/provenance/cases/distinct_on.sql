-- case: distinct_on
-- values: id
-- row: a | 2 | 20 ; why 0 = 2 ; id 0 = id@2
-- row: b | 5 | 18 ; why 0 = 5 ; id 0 = id@5
-- row: None | 6 | 30 ; why 0 = 6 ; id 0 = id@6
select distinct on (host) host, id, tput from run order by host, tput desc nulls last

-- case: distinct_on_after_left_join
-- values: r
-- row: 1 | None ; why 0 = 3
-- row: 8 | 5 ; why 0 = 2 ; why 1 = 5 ; r 1 = id@5
select distinct on (h.gpus) h.gpus, r.id as r from host h left join run r on r.host = h.name order by h.gpus, r.id desc nulls last

-- case: distinct_on_over_groups
-- values: s
-- row: a | 1 | 10 ; why 0 = 1 ; s 0 = tput@1
-- row: b | 1 | 12 ; why 0 = 4 ; s 0 = tput@4
-- row: None | 4 | 30 ; why 0 = 6 ; s 0 = tput@6
select distinct on (host) host, conc, sum(tput) as s from run group by host, conc order by host, conc

-- case: distinct_on_then_sum
-- values: s
-- row: 9 ; why 0 = 3, 6 ; s 0 = id@3, id@6
select sum(id) as s from (select distinct on (status) status, id from run order by status, id desc) d

-- case: distinct_on_of_nothing
-- values: n
-- row: 0
select count(*) as n from (select distinct on (host) id, host from run where conc > 9 order by host, id) d

-- case: distinct_on_and_limit
-- values: id
-- row: 4 | 3 ; why 0 = 3 ; id 0 = id@3
select distinct on (conc) conc, id from run order by conc desc, id limit 1
