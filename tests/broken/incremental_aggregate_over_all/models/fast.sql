/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select
    max(run_id) as run_id,
    avg(speed) as speed
from run
