/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select run_id, speed
from run
order by speed
limit 100
