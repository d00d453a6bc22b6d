-- Copyright of somebody
/*
materialized: view
*/
select 'r' as run_id
