/*
feeds: outcome
*/
select 'r' as run_id
