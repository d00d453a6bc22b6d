/*
materialized: incremental
key: run_id
*/
select run_id, speed from run
