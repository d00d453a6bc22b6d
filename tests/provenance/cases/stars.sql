-- case: replace
-- values: tput, conc
-- row: 1 | a | 101 | 10 | ok ; why 0 = 1 ; tput 0 = tput@1 ; conc 0 = conc@1, tput@1
-- row: 4 | b | 121 | 12 | ok ; why 0 = 4 ; tput 0 = tput@4 ; conc 0 = conc@4, tput@4
select * replace (tput * 10 + conc as conc) from run where conc = 1

-- case: replace_by_a_constant
-- values: host, id
-- row: 2 | x | 2 | 20 ; why 0 = 2 ; id 0 = id@2
select * exclude status replace ('x' as host) from run where id = 2

-- case: replace_a_name_in_other_case
-- values: Tput
-- row: 2 | 21 ; why 0 = 2 ; Tput 0 = tput@2
select run.* exclude (host, conc, status) replace (run.tput + 1 as Tput) from run where id = 2

-- case: replace_by_a_window
-- values: tput
-- row: 4 | 30 ; why 0 = 4, 5 ; tput 0 = tput@4, tput@5
-- row: 5 | 30 ; why 0 = 4, 5 ; tput 0 = tput@4, tput@5
select * exclude (host, conc, status) replace (sum(tput) over () as tput) from run where host = 'b'

-- case: replace_by_a_subquery
-- values: gpus
-- row: 3 | c | 30 ; why 0 = 3 ; why 1 = 1, 2, 3, 4, 5, 6 ; gpus 1 = tput@1, tput@2, tput@4, tput@5, tput@6
select * replace ((select max(tput) from run) as gpus) from host where id = 3

-- case: replaced_column_orders
-- values: conc
-- row: 3 | -4 ; why 0 = 3 ; conc 0 = conc@3
select * exclude (host, tput, status) replace (-conc as conc) from run where host = 'a' order by conc limit 1

-- case: rename
-- values: throughput
-- row: 1 | a | 1 | 10 | ok ; why 0 = 1 ; throughput 0 = tput@1
select * rename (tput as throughput) from run where id = 1

-- case: rename_to_a_name_that_is_free
-- values: conc
-- row: 1 | a | 1 | 10 ; why 0 = 1 ; conc 0 = tput@1
select * exclude (status) rename (conc as c, run.tput as conc) from run where id = 1

-- case: all_three_behind_one_star
-- values: m, gpus
-- row: 1 | 16 | a ; why 0 = 1 ; m 0 = id@1 ; gpus 0 = gpus@1
select * exclude (id) replace (gpus * 2 as gpus) rename (n as m) from (select id as n, id, gpus, name from host) where id = 1

-- case: like
-- values: conc
-- row: a | 1 ; why 0 = 1 ; conc 0 = conc@1
select * like '%o%' from run where id = 1

-- case: not_like_behind_a_table
-- values: status
-- row: 1 | 10 | ok ; why 0 = 1 ; why 1 = 1 ; status 0 = status@1
select r.* not like '%o%' from run r join host h on h.id = r.id where r.id = 1

-- case: ilike
-- values: tput
-- row: 10 ; why 0 = 1 ; tput 0 = tput@1
select * ilike 'TP%' from run where id = 1

-- case: similar_to_and_glob
-- values: conc, tput
-- row: 1 | 10 ; why 0 = 1 ; conc 0 = conc@1 ; tput 0 = tput@1
select * similar to 'c.*', * glob 'tp*' from run where id = 1

-- case: columns_by_pattern
-- values: conc
-- row: 1 | 10 | 1 ; why 0 = 1 ; conc 0 = conc@1
select columns('tput|conc'), id from run where id = 1

-- case: columns_by_lambda
-- values: tput
-- row: 10 | ok ; why 0 = 1 ; tput 0 = tput@1
select columns(lambda c: c like '%t%' and c <> 'host') from run where id = 1

-- case: columns_by_list
-- values: id
-- row: 1 | 10 ; why 0 = 1 ; id 0 = id@1
select columns(['tput', 'id']) from run where id = 1

-- case: columns_of_a_star
-- values: id, gpus
-- row: 1 | 16 ; why 0 = 1 ; id 0 = id@1 ; gpus 0 = gpus@1
select columns(h.* exclude (name) replace (2 * gpus as gpus)) from host h where id = 1

-- case: aggregate_of_columns
-- values: conc, tput
-- row: a | 4 | 20 ; why 0 = 1, 2, 3 ; conc 0 = conc@1, conc@2, conc@3 ; tput 0 = tput@1, tput@2
-- row: b | 2 | 18 ; why 0 = 4, 5 ; conc 0 = conc@4, conc@5 ; tput 0 = tput@4, tput@5
select host, max(columns('conc|tput')) from run where host is not null group by host

-- case: columns_named_by_a_pattern
-- values: conc_max, put_max
-- row: 2 | 18 ; why 0 = 4, 5 ; conc_max 0 = conc@4, conc@5 ; put_max 0 = tput@4, tput@5
select max(columns('t?(conc|put)')) as '\1_max' from run where host = 'b'

-- case: columns_twice_in_an_expression
-- values: conc, tput
-- row: 3 | 30 ; why 0 = 4, 5 ; conc 0 = conc@4, conc@5 ; tput 0 = tput@4, tput@5
select min(columns('conc|tput')) + max(columns('conc|tput')) from run where host = 'b'

-- case: columns_as_arguments
-- values: most, some
-- row: 1 | 10 | 1 ; why 0 = 1 ; most 0 = conc@1, tput@1 ; some 0 = conc@1
-- row: 3 | 4 | 4 ; why 0 = 3 ; most 0 = conc@3, tput@3 ; some 0 = conc@3
select id, greatest(*columns('conc|tput'), 0) as most, coalesce(*columns(['conc', 'tput'])) as some from run where id in (1, 3)

-- case: columns_in_where
-- values: id
-- row: 2 ; why 0 = 2 ; id 0 = id@2
-- row: 5 ; why 0 = 5 ; id 0 = id@5
select id from run where columns('conc|tput') >= 2 and host is not null and columns('conc|tput') <= 20

-- case: star_over_using_replaced
-- values: id, gpus
-- row: 101 | 16 | 10 ; why 0 = 1 ; why 1 = 1 ; id 0 = id@1 ; gpus 0 = gpus@1
select * exclude (name, host, conc, status) replace (id + 100 as id, gpus * 2 as gpus) from host join run using (id) where id = 1

-- case: star_over_full_join_using_renamed
-- values: k
-- row: 3 | 1 | None ; why 0 = 3 ; k 0 = id@3
-- row: 99 | None | 3 ; why 1 = 6 ; k 1 = run_id@6
select * rename (id as k) from (select id, gpus from host where id = 3) full join (select run_id as id, latency from feed.sample where id = 6) using (id)

-- case: table_star_over_using
-- values: id
-- row: 3 | 3 ; why 0 = 3 ; id 0 = id@3
-- row: 1 | 4 ; why 0 = 1 ; why 1 = 1 ; id 0 = id@1
select a.* exclude (name, gpus), a.id + coalesce(b.gpus, 0) as s from (select * replace (3 as gpus) from host) a left join (select id, 3 as gpus from host where id = 1) b using (id) where id <> 2

-- case: star_in_a_union
-- values: n
-- row: 1 | 8 ; why 0 = 1 ; n 0 = gpus@1
-- row: 4 | 1 ; why 1 = 4 ; n 1 = conc@4
select * exclude (name) rename (gpus as n) from host where id = 1 union all select columns(['id', 'conc']) from run where id = 4

-- case: star_of_a_cte_of_a_star
-- values: m
-- row: a | 40 ; why 0 = 1, 2, 3 ; m 0 = tput@1, tput@2
-- row: b | 36 ; why 0 = 4, 5 ; m 0 = tput@4, tput@5
with doubled as (select * replace (2 * tput as tput) from run where host is not null), highest as (select host, max(tput) as m from doubled group by all) select * from highest

-- case: star_of_a_joined_query_with_two_columns_of_one_name
-- values: hid
-- row: 4 | 2 ; why 0 = 4 ; why 1 = 2 ; hid 1 = id@2
-- row: 5 | 2 ; why 0 = 5 ; why 1 = 2 ; hid 1 = id@2
select t.id, t.id_1 as hid from (select * from run r join host h on h.name = r.host) t where t.id_1 > 1

-- case: star_of_a_joined_query_in_a_subquery
-- values: id
-- row: 1 ; why 0 = 1 ; why 1 = 1, 2 ; why 2 = 1 ; id 0 = id@1
-- row: 2 ; why 0 = 2 ; why 1 = 3 ; why 2 = 2 ; id 0 = id@2
select id from run r where id < 4 and id in (select x.run_id from (select * from feed.sample s join run q on q.id = s.run_id) x)
