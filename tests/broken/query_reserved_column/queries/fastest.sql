/*
grain: [run_id]
*/
select run_id, speed as number_ids from run
