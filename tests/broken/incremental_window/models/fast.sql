/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select
    run_id,
    speed,
    rank() over (order by speed desc) as place
from run
