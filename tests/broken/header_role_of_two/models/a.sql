/*
role: runs
*/
select 'r1' as run_id
