-- case: running_sum
-- values: s
-- row: 1 | 1 ; why 0 = 1 ; s 0 = conc@1
-- row: 2 | 3 ; why 0 = 1, 2 ; s 0 = conc@1, conc@2
-- row: 3 | 7 ; why 0 = 1, 2, 3 ; s 0 = conc@1, conc@2, conc@3
select id, sum(conc) over (partition by host order by id) as s from run where host = 'a'

-- case: rows_frame
-- values: s
-- row: 1 | 1 ; why 0 = 1 ; s 0 = conc@1
-- row: 2 | 3 ; why 0 = 1, 2 ; s 0 = conc@1, conc@2
-- row: 3 | 6 ; why 0 = 2, 3 ; s 0 = conc@2, conc@3
select id, sum(conc) over (order by id rows between 1 preceding and current row) as s from run where id < 4

-- case: rows_exclude
-- values: s
-- row: 1 | 2 ; why 0 = 1, 2 ; s 0 = conc@2
-- row: 2 | 5 ; why 0 = 1, 2, 3 ; s 0 = conc@1, conc@3
-- row: 3 | 2 ; why 0 = 2, 3 ; s 0 = conc@2
select id, sum(conc) over (order by id rows between 1 preceding and 1 following exclude current row) as s from run where id < 4

-- case: whole_partition
-- values: m
-- row: 6 | 30 ; why 0 = 6 ; m 0 = tput@6
-- row: 3 | 20 ; why 0 = 1, 2, 3 ; m 0 = tput@1, tput@2
-- row: 5 | 18 ; why 0 = 4, 5 ; m 0 = tput@4, tput@5
-- row: 2 | 20 ; why 0 = 1, 2, 3 ; m 0 = tput@1, tput@2
-- row: 4 | 18 ; why 0 = 4, 5 ; m 0 = tput@4, tput@5
-- row: 1 | 20 ; why 0 = 1, 2, 3 ; m 0 = tput@1, tput@2
select id, max(tput) over (partition by host) as m from run

-- case: filtered_window
-- values: n
-- row: 1 | 2 ; why 0 = 1, 2, 3 ; n 0 = *@1, *@2
-- row: 2 | 2 ; why 0 = 1, 2, 3 ; n 0 = *@1, *@2
-- row: 3 | 2 ; why 0 = 1, 2, 3 ; n 0 = *@1, *@2
select id, count(*) filter (where status = 'ok') over (partition by host) as n from run where host = 'a'

-- case: named_window
-- values: s
-- row: 1 | 1 ; why 0 = 1 ; s 0 = conc@1
-- row: 2 | 3 ; why 0 = 1, 2 ; s 0 = conc@1, conc@2
select id, sum(conc) over w as s from run where id < 3 window w as (order by id)

-- case: row_number
-- values: r
-- row: 4 | 1 ; why 0 = 4 ; r 0 = id@4
-- row: 5 | 2 ; why 0 = 4, 5 ; r 0 = id@4, id@5
select id, row_number() over (partition by host order by id) as r from run where host = 'b'

-- case: rank_and_dense_rank
-- values: r
-- row: 1 | 1 | 1 ; why 0 = 1, 4 ; r 0 = conc@1, conc@4
-- row: 4 | 1 | 1 ; why 0 = 1, 4 ; r 0 = conc@1, conc@4
-- row: 2 | 3 | 2 ; why 0 = 1, 2, 4, 5 ; r 0 = conc@1, conc@2, conc@4, conc@5
-- row: 5 | 3 | 2 ; why 0 = 1, 2, 4, 5 ; r 0 = conc@1, conc@2, conc@4, conc@5
-- row: 3 | 5 | 3 ; why 0 = 1, 2, 3, 4, 5, 6 ; r 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
-- row: 6 | 5 | 3 ; why 0 = 1, 2, 3, 4, 5, 6 ; r 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
select id, rank() over (order by conc) as r, dense_rank() over (order by conc) as d from run

-- case: ntile
-- values: t
-- row: 1 | 1 ; why 0 = 1, 2, 3 ; t 0 = id@1, id@2, id@3
-- row: 2 | 1 ; why 0 = 1, 2, 3 ; t 0 = id@1, id@2, id@3
-- row: 3 | 2 ; why 0 = 1, 2, 3 ; t 0 = id@1, id@2, id@3
select id, ntile(2) over (order by id) as t from run where id < 4

-- case: percent_rank
-- values: p
-- row: 1 | 0.0 | 0.3333333333333333 ; why 0 = 1, 2, 3 ; p 0 = id@1, id@2, id@3
-- row: 2 | 0.5 | 0.6666666666666666 ; why 0 = 1, 2, 3 ; p 0 = id@1, id@2, id@3
-- row: 3 | 1.0 | 1.0 ; why 0 = 1, 2, 3 ; p 0 = id@1, id@2, id@3
select id, percent_rank() over (order by id) as p, cume_dist() over (order by id) as c from run where id < 4

-- case: lag_and_lead
-- values: a, z
-- row: 1 | None | None ; why 0 = 1, 2, 3 ; z 0 = tput@3
-- row: 2 | 10 | 12 ; why 0 = 1, 2, 3, 4 ; a 0 = tput@1 ; z 0 = tput@4
-- row: 3 | 20 | 18 ; why 0 = 2, 3, 4, 5 ; a 0 = tput@2 ; z 0 = tput@5
-- row: 4 | None | 30 ; why 0 = 3, 4, 5, 6 ; a 0 = tput@3 ; z 0 = tput@6
-- row: 5 | 12 | None ; why 0 = 4, 5, 6 ; a 0 = tput@4
-- row: 6 | 18 | None ; why 0 = 5, 6 ; a 0 = tput@5
select id, lag(tput) over (order by id) as a, lead(tput, 2) over (order by id) as z from run

-- case: lag_default
-- values: a
-- row: 1 | 1 ; why 0 = 1 ; a 0 = conc@1
-- row: 2 | 10 ; why 0 = 1, 2 ; a 0 = tput@1
select id, lag(tput, 1, conc) over (order by id) as a from run where id < 3

-- case: lag_ignore_nulls
-- values: a
-- row: 2 | None ; why 0 = 2
-- row: 3 | 20 ; why 0 = 2, 3 ; a 0 = tput@2
-- row: 4 | 20 ; why 0 = 2, 3, 4 ; a 0 = tput@2
select id, lag(tput ignore nulls) over (order by id) as a from run where id in (2, 3, 4)

-- case: first_and_last_value
-- values: f, l
-- row: 4 | 12 | 12 ; why 0 = 4 ; f 0 = tput@4 ; l 0 = tput@4
-- row: 5 | 12 | 18 ; why 0 = 4, 5 ; f 0 = tput@4 ; l 0 = tput@5
select id, first_value(tput) over (partition by host order by id) as f, last_value(tput) over (partition by host order by id) as l from run where host = 'b'

-- case: nth_value
-- values: n
-- row: 1 | None ; why 0 = 1
-- row: 2 | 20 ; why 0 = 1, 2 ; n 0 = tput@2
-- row: 3 | 20 ; why 0 = 1, 2, 3 ; n 0 = tput@2
select id, nth_value(tput, 2) over (order by id) as n from run where id < 4

-- case: qualify
-- values: tput
-- row: 2 | 20 ; why 0 = 2 ; tput 0 = tput@2
-- row: 6 | 30 ; why 0 = 6 ; tput 0 = tput@6
-- row: 5 | 18 ; why 0 = 5 ; tput 0 = tput@5
select id, tput from run qualify row_number() over (partition by host order by tput desc nulls last, id) = 1

-- case: qualify_by_alias
-- values: tput
-- row: 2 | 20 | 2 ; why 0 = 1, 2 ; tput 0 = tput@2
-- row: 5 | 18 | 2 ; why 0 = 4, 5 ; tput 0 = tput@5
select id, tput, row_number() over (partition by host order by id) as n from run qualify n = 2

-- case: window_over_aggregate
-- values: share
-- row: None | 4 | 0.2857142857142857 ; why 0 = 1, 2, 3, 4, 5, 6 ; share 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
-- row: a | 7 | 0.5 ; why 0 = 1, 2, 3, 4, 5, 6 ; share 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
-- row: b | 3 | 0.21428571428571427 ; why 0 = 1, 2, 3, 4, 5, 6 ; share 0 = conc@1, conc@2, conc@3, conc@4, conc@5, conc@6
select host, sum(conc) as s, s / sum(sum(conc)) over () as share from run group by host

-- case: rank_over_aggregate
-- values: r
-- row: None | 1 ; why 0 = 6 ; r 0 = *@6
-- row: b | 2 ; why 0 = 4, 5, 6 ; r 0 = *@4, *@5, *@6
-- row: a | 3 ; why 0 = 1, 2, 3, 4, 5, 6 ; r 0 = *@1, *@2, *@3, *@4, *@5, *@6
select host, rank() over (order by count(*)) as r from run group by host

-- case: window_after_join
-- values: s
-- row: 1 | 8 ; why 0 = 1 ; why 1 = 1 ; s 1 = gpus@1
-- row: 2 | 16 ; why 0 = 1, 2 ; why 1 = 1 ; s 1 = gpus@1
select r.id, sum(h.gpus) over (order by r.id) as s from run r join host h on h.name = r.host where r.id < 3

-- case: window_in_cte
-- values: d
-- row: None | None ; why 0 = 6
-- row: a | 10 ; why 0 = 1, 2, 3 ; d 0 = tput@1, tput@2
-- row: b | 6 ; why 0 = 4, 5 ; d 0 = tput@4, tput@5
with w as (select host, tput - lag(tput) over (partition by host order by id) as d from run) select host, max(d) as d from w group by host

-- case: lag_ignore_nulls_takes_a_value_without_cells
-- values: a
-- row: 2 | None ; why 0 = 2
-- row: 3 | 20 ; why 0 = 2, 3 ; a 0 = tput@2
-- row: 4 | 0 ; why 0 = 2, 3, 4
select id, lag(coalesce(tput, 0) ignore nulls) over (order by id) as a from run where id in (2, 3, 4)
