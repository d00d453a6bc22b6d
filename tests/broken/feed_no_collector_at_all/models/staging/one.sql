/*
feeds: outcome
*/
select run_id from run
