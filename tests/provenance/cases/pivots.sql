-- case: pivot
-- values: 1, 2
-- row: None | None | None | None ; why 0 = 6
-- row: a | 10 | 20 | None ; why 0 = 1, 2, 3 ; 1 0 = tput@1 ; 2 0 = tput@2
-- row: b | 12 | 18 | None ; why 0 = 4, 5 ; 1 0 = tput@4 ; 2 0 = tput@5
pivot run on conc in (1, 2, 7) using sum(tput) group by host

-- case: pivot_two_lists_two_aggregates
-- values: 1_ok_n, 2_ok_max(tput)
-- row: None | 0 | None | 0 | None ; why 0 = 6
-- row: a | 1 | 10 | 1 | 20 ; why 0 = 1, 2, 3 ; 1_ok_n 0 = *@1 ; 2_ok_max(tput) 0 = tput@2
-- row: b | 1 | 12 | 1 | 18 ; why 0 = 4, 5 ; 1_ok_n 0 = *@4 ; 2_ok_max(tput) 0 = tput@5
pivot run on conc in (1, 2), status in ('ok') using count(*) as n, max(tput) group by host

-- case: pivot_in_from_groups_by_the_rest
-- values: host, 2
-- row: a | 10 | 20 ; why 0 = 1, 2, 3 ; host 0 = host@1, host@2, host@3 ; 2 0 = tput@2
-- row: b | 12 | 18 ; why 0 = 4, 5 ; host 0 = host@4, host@5 ; 2 0 = tput@5
select * from (select host, conc, tput from run) pivot (sum(tput) for conc in (1, 2)) as p where host is not null

-- case: pivot_in_cte_and_left_join
-- values: f
-- row: a | 1 ; why 0 = 1, 2, 3 ; why 1 = 1 ; f 0 = *@3
-- row: b | 0 ; why 0 = 4, 5 ; why 1 = 2
-- row: c | None ; why 1 = 3
with p as (pivot run on status in ('ok', 'failed') using count(*) group by host)
select h.name, p.failed as f from host h left join p on p.host = h.name

-- case: pivot_without_keys
-- values: 4
-- row: [30, None] ; why 0 = 1, 2, 3, 4, 5, 6 ; 4 0 = tput@3, tput@6
pivot (select conc, tput from run) on conc in (4) using list(tput order by tput)

-- case: pivot_of_nothing
-- values: n
-- row: 0
select count(*) as n from (pivot (select * from run where conc > 9) on conc in (1) using sum(tput) group by host) p

-- case: pivot_two_lists_of_two
-- values: 2_ok, 4_failed
-- row: None | 0 | 0 | 1 | 0 ; why 0 = 6
-- row: a | 1 | 0 | 0 | 1 ; why 0 = 1, 2, 3 ; 2_ok 0 = *@2 ; 4_failed 0 = *@3
-- row: b | 1 | 0 | 0 | 0 ; why 0 = 4, 5 ; 2_ok 0 = *@5
pivot run on conc in (2, 4), status in ('ok', 'failed') using count(*) group by host
