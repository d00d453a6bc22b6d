/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select run_id, speed from run
union all
select 'all', max(speed) from run
