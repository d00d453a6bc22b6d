-- case: ntile
-- values: v
select id, ntile(3) over (order by id) as v from run

-- case: percent_rank
-- values: v
select id, percent_rank() over (order by conc, id) as v from run

-- case: cume_dist
-- values: v
select id, cume_dist() over (order by conc) as v from run

-- case: max_over_partition
-- values: v
select id, max(tput) over (partition by host) as v from run

-- case: share_of_groups
-- values: v
select host, sum(conc) * 1.0 / sum(sum(conc)) over () as v from run group by host

-- case: rank_of_groups
-- values: v
select host, rank() over (order by sum(conc) desc) as v from run group by host

-- case: qualify_groups
-- values: v
select host, status, sum(conc) as v from run group by host, status qualify row_number() over (partition by host
order by sum(conc) desc, status) = 1
