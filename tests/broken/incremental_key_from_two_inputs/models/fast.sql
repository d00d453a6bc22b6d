/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select
    run_id || rack as run_id,
    speed
from run
join host_dim using (host_id)
