/*
feeds: outcome
*/
select
    'r' as run_id,
    1 as speed
