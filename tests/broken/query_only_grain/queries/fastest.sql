/*
grain: [run_id]
*/
select run_id from run
