/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select distinct on (host) run_id, host, speed
from run
order by speed
