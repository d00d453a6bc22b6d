/*
role: runs
*/
select 'r2' as run_id
