/*
description: fast
materialized: incremental
*/
select run_id, speed from run
