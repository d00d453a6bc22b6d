/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select run.run_id, host_dim.rack, run.speed
from run
right join host_dim using (host_id)
