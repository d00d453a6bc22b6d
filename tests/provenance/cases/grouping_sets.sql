-- case: rollup
-- values: host, s
-- row: None | 14 ; why 0 = 1, 2, 3, 4, 5, 6 ; s 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
-- row: None | 4 ; why 0 = 6 ; host 0 = host@6 ; s 0 = conc@6
-- row: a | 7 ; why 0 = 1, 2, 3 ; host 0 = host@1, host@2, host@3 ; s 0 = conc@1, conc@2, conc@3
-- row: b | 3 ; why 0 = 4, 5 ; host 0 = host@4, host@5 ; s 0 = conc@4, conc@5
select host, sum(conc) as s from run group by rollup (host)

-- case: cube
-- values: host, status
-- row: a | ok | 2 ; why 0 = 1, 2 ; host 0 = host@1, host@2 ; status 0 = status@1, status@2
-- row: b | ok | 2 ; why 0 = 4, 5 ; host 0 = host@4, host@5 ; status 0 = status@4, status@5
-- row: a | None | 2 ; why 0 = 1, 2 ; host 0 = host@1, host@2
-- row: b | None | 2 ; why 0 = 4, 5 ; host 0 = host@4, host@5
-- row: None | ok | 4 ; why 0 = 1, 2, 4, 5 ; status 0 = status@1, status@2, status@4, status@5
-- row: None | None | 4 ; why 0 = 1, 2, 4, 5
select host, status, count(*) as n from run where conc < 4 group by cube (host, status)

-- case: grouping_sets_by_position
-- values: k, m
-- row: 1 | 12 ; why 0 = 1, 4 ; k 0 = conc@1, conc@4 ; m 0 = tput@1, tput@4
-- row: 2 | 20 ; why 0 = 2, 5 ; k 0 = conc@2, conc@5 ; m 0 = tput@2, tput@5
-- row: 4 | 30 ; why 0 = 3, 6 ; k 0 = conc@3, conc@6 ; m 0 = tput@6
-- row: None | 30 ; why 0 = 1, 2, 3, 4, 5, 6 ; m 0 = tput@1, tput@2, tput@4, tput@5, tput@6
select conc as k, max(tput) as m from run group by grouping sets ((1), ())

-- case: rollup_by_alias
-- values: u
-- row: A | 3 ; why 0 = 1, 2, 3 ; u 0 = host@1, host@2, host@3
-- row: B | 2 ; why 0 = 4, 5 ; u 0 = host@4, host@5
-- row: None | 5 ; why 0 = 1, 2, 3, 4, 5
select upper(host) as u, count(*) as n from run where host is not null group by rollup (u)

-- case: grouping_sets_of_nothing
-- values: g, n
-- row: 1 | 0
select grouping(host) as g, count(*) as n from run where conc > 100 group by rollup (host)

-- case: rollup_having_and_coalesce
-- values: h, s
-- row: all | 60 ; why 0 = 1, 2, 3, 4, 5 ; s 0 = tput@1, tput@2, tput@4, tput@5
select coalesce(host, 'all') as h, sum(tput) as s from run where host is not null group by rollup (host) having sum(tput) > 30

-- case: key_and_rollup
-- values: status, conc, n
-- row: ok | 1 | 1 ; why 0 = 1 ; status 0 = status@1 ; conc 0 = conc@1 ; n 0 = tput@1
-- row: ok | 2 | 1 ; why 0 = 2 ; status 0 = status@2 ; conc 0 = conc@2 ; n 0 = tput@2
-- row: failed | 4 | 0 ; why 0 = 3 ; status 0 = status@3 ; conc 0 = conc@3
-- row: ok | None | 2 ; why 0 = 1, 2 ; status 0 = status@1, status@2 ; n 0 = tput@1, tput@2
-- row: failed | None | 0 ; why 0 = 3 ; status 0 = status@3
select status, conc, count(tput) as n from run where host = 'a' group by status, rollup (conc)

-- case: rank_over_rollup
-- values: r
-- row: None | 14 | 1 ; why 0 = 1, 2, 3, 4, 5, 6 ; r 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
-- row: a | 7 | 2 ; why 0 = 1, 2, 3, 4, 5, 6 ; r 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
-- row: None | 4 | 3 ; why 0 = 1, 2, 3, 4, 5, 6 ; r 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
-- row: b | 3 | 4 ; why 0 = 1, 2, 3, 4, 5, 6 ; r 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
select host, sum(conc) as s, rank() over (order by sum(conc) desc) as r from run group by rollup (host)

-- case: rollup_after_left_join
-- values: gpus, n
-- row: 8 | 5 ; why 0 = 1, 2 ; why 1 = 1, 2, 3, 4, 5 ; gpus 0 = gpus@1, gpus@2 ; n 1 = id@1, id@2, id@3, id@4, id@5
-- row: 1 | 0 ; why 0 = 3 ; gpus 0 = gpus@3
-- row: None | 5 ; why 0 = 1, 2, 3 ; why 1 = 1, 2, 3, 4, 5 ; n 1 = id@1, id@2, id@3, id@4, id@5
select h.gpus, count(r.id) as n from host h left join run r on r.host = h.name group by rollup (h.gpus)

-- case: case_over_grouping
-- values: k
-- row: a | 2 ; why 0 = 1, 2 ; k 0 = host@1, host@2
-- row: total | 2 ; why 0 = 1, 2
select case when grouping(host) = 1 then 'total' else host end as k, count(*) as n from run where id < 3 group by rollup (host)

-- case: grouping_id_says_nothing_of_the_data
-- values: level, n
-- row: a | ok | 0 | 2 ; why 0 = 1, 2 ; n 0 = *@1, *@2
-- row: a | failed | 0 | 1 ; why 0 = 3 ; n 0 = *@3
-- row: a | None | 1 | 3 ; why 0 = 1, 2, 3 ; n 0 = *@1, *@2, *@3
-- row: None | None | 3 | 3 ; why 0 = 1, 2, 3 ; n 0 = *@1, *@2, *@3
select host, status, grouping_id(host, status) as level, count(*) as n from run where host = 'a' group by rollup (host, status)
