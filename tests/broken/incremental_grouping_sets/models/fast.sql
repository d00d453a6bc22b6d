/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select run_id, host, avg(speed) as speed
from run
group by rollup (run_id, host)
