/*
materialized: incremental
key: [runid]
*/
select run_id, speed from run
