/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select max(run_id) as run_id, host, avg(speed) as speed
from run
group by host
