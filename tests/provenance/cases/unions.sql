-- case: union_all
-- values: v
-- row: 1 | 10 ; why 0 = 1 ; v 0 = tput@1
-- row: 3 | 1 ; why 1 = 3 ; v 1 = gpus@3
select id, tput as v from run where id = 1 union all select id, gpus from host where id = 3

-- case: union_all_three
-- values: v
-- row: 10 ; why 0 = 1 ; v 0 = tput@1
-- row: 1 ; why 1 = 3 ; v 1 = gpus@3
-- row: 5 ; why 2 = 1 ; v 2 = latency@1
select tput as v from run where id = 1 union all select gpus from host where id = 3 union all select latency from feed.sample where id = 1

-- case: union_all_by_name
-- values: v, w
-- row: 1 | 10 | None ; why 0 = 1 ; v 0 = tput@1
-- row: 3 | None | 1 ; why 1 = 3 ; w 1 = gpus@3
select id, tput as v from run where id = 1 union all by name select gpus as w, id from host where id = 3

-- case: union_distinct
-- values: name
-- row: a ; why 0 = 1 ; why 1 = 1, 2, 3 ; name 0 = name@1 ; name 1 = host@1, host@2, host@3
-- row: b ; why 0 = 2 ; why 1 = 4, 5 ; name 0 = name@2 ; name 1 = host@4, host@5
-- row: c ; why 0 = 3 ; name 0 = name@3
select name from host union select host from run where host is not null order by name

-- case: union_by_name
-- values: k
-- row: 1 ; why 0 = 1, 4 ; why 1 = 3 ; k 0 = conc@1, conc@4 ; k 1 = gpus@3
-- row: 2 ; why 0 = 2, 5 ; k 0 = conc@2, conc@5
-- row: 4 ; why 0 = 3, 6 ; k 0 = conc@3, conc@6
-- row: 8 ; why 1 = 1, 2 ; k 1 = gpus@1, gpus@2
select conc as k from run union by name select gpus as k from host

-- case: union_mixed_chain
-- values: k
-- row: 1 ; why 0 = 1 ; why 1 = 3 ; k 0 = conc@1 ; k 1 = gpus@3
select conc as k from run where id = 1 union all select gpus from host where id = 3 union select 1

-- case: union_types_meet
-- values: v
-- row: 10.0 ; why 0 = 1 ; v 0 = tput@1
-- row: 0.5
select tput as v from run where id = 1 union all select 0.5

-- case: union_with_order_and_limit
-- values: v
-- row: 30 ; why 0 = 6 ; v 0 = tput@6
-- row: 20 ; why 0 = 2 ; v 0 = tput@2
select tput as v from run where tput > 15 union all select gpus from host order by v desc limit 2

-- case: union_in_cte
-- values: s
-- row: h | 17 ; why 1 = 1, 2, 3 ; s 1 = gpus@1, gpus@2, gpus@3
-- row: r | 22 ; why 0 = 1, 4 ; s 0 = tput@1, tput@4
with u as (select 'r' as k, tput as v from run where conc = 1 union all select 'h', gpus from host) select k, sum(v) as s from u group by k

-- case: union_of_one_cte
-- values: v
-- row: 10 ; why 0 = 1 ; v 0 = tput@1
-- row: 20 ; why 0 = 2 ; v 0 = tput@2
with c as (select id, tput from run where id < 3) select tput as v from c where id = 1 union all select tput from c where id = 2

-- case: union_reads_one_cte_twice
-- row: a ; why 0 = 1, 2, 3
-- row: b ; why 0 = 4, 5
with c as (select host, conc from run) select host from c where conc < 4 and host is not null union select host from c where conc > 1 and host is not null

-- case: union_of_subqueries_of_one_cte_that_read_other_rows
-- row: 1 | 6 ; why 0 = 1, 2, 3, 4, 5 ; why 1 = 2, 4, 5, 6 ; why 2 = 1, 4
with c as (select host, tput from run)
select h, count(*) as n from (
    select 1 as h, tput as x from run where tput > (select min(tput) from c where host = 'a')
    union all select 1, tput from run where tput < (select max(tput) from c where host = 'b')
) group by h

-- case: sum_of_one_cte_read_twice
-- values: s
-- row: a | 60 ; why 0 = 1, 2, 3 ; s 0 = tput@1, tput@2
-- row: b | 60 ; why 0 = 4, 5 ; s 0 = tput@4, tput@5
with c as (select host, tput from run where host is not null)
select host, sum(tput) as s from (select host, tput from c union all select host, tput from c) as u group by host
