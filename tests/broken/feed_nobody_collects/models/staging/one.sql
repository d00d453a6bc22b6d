/*
feeds: outcom
*/
select 'r' as run_id
