/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select run.run_id, host_dim.rack, run.speed
from host_dim
left join run using (host_id)
