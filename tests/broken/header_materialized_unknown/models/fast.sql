/*
materialized: snapshot
*/
select run_id, speed from run
