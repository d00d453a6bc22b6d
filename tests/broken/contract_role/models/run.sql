/*
role: run_files
*/
select 7 as run_id, 'ab' as digest
