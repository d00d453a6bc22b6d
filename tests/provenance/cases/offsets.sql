-- case: offset_behind_limit
-- values: tput
-- row: 2 | 20 ; why 0 = 2, 6 ; tput 0 = tput@2
-- row: 5 | 18 ; why 0 = 2, 5, 6 ; tput 0 = tput@5
select id, tput from run order by tput desc nulls last, id limit 2 offset 1

-- case: offset_alone
-- values: id
-- row: 3 ; why 0 = 1, 2, 3 ; id 0 = id@3
-- row: 2 ; why 0 = 1, 2 ; id 0 = id@2
select id from host order by id offset 1

-- case: offset_of_groups_by_position_and_alias
-- values: s
-- row: None | 4 ; why 0 = 1, 2, 3, 6 ; s 0 = conc@6
select host as h, sum(conc) as s from run group by 1 order by s desc, 1 limit 1 offset 1

-- case: offset_inside
-- values: m
-- row: 20 ; why 0 = 1, 2, 3 ; m 0 = tput@2
select max(tput) as m from (select tput from run order by id limit 2 offset 1) t

-- case: limit_of_one_total
-- row: 6 ; why 0 = 1, 2, 3, 4, 5, 6
select count(*) as n from run limit 100

-- case: limit_of_crossed_totals
-- values: a
-- row: 3 | 30 ; why 0 = 1, 2, 3 ; why 1 = 1, 2, 3, 4, 5, 6 ; a 0 = id@1, id@2, id@3
select * from (select max(id) as a from host) x, (select max(tput) as b from run) y limit 100
