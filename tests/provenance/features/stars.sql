-- case: replace_over_left_join
-- values: conc
select h.*, r.* exclude (id, host) replace (coalesce(r.conc, 0) as conc) from host h left join run r on r.host = h.name

-- case: replace_over_group
-- values: tput
select * replace (tput * 2 as tput) from (select host, sum(tput) as tput from run group by host)

-- case: replace_by_window
-- values: tput
select * replace (max(tput) over (partition by host order by id rows between 1 preceding and current row) as tput) from run

-- case: rename_and_qualify
-- values: t
select * rename (tput as t) from run qualify row_number() over (partition by host order by tput desc, id) = 1

-- case: columns_of_aggregates
-- values: conc, tput
select host, sum(columns('conc|tput')) from run group by host having count(*) > 1

-- case: columns_in_where
-- values: tput
select id, tput from run where columns('conc|tput') > 1

-- case: columns_of_windows
-- values: tput
select id, lag(columns(['tput', 'conc'])) over (partition by host order by id) from run

-- case: star_like_over_using
-- values: latency
select * like '%t%', conc from run join (select id, latency from sample) s using (id)

-- case: using_replaced_over_full_join
-- values: id, latency
select * replace (id + 1 as id) from (select id, tput from run where id < 5) full join (select id, latency from sample where id > 2) using (id)

-- case: exists_of_a_star
-- values: id
select id from host h where exists (select * exclude (id) from run r where r.host = h.name)

-- case: lateral_star
-- values: tput
select h.id, x.* from host h, lateral (select * exclude (id, host) from run r where r.host = h.name) x
