/*
feeds: outcome
*/
select 'r' as run_id, 1.0::double as sped
