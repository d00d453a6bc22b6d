/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select run_id, speed / sum(speed) over (partition by host) as share from run
