/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select 'r' || i as run_id, i * 1.5 as speed from range(100) as r (i)
