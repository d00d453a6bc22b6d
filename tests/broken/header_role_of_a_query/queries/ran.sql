/*
grain: [run_id]
role: runs
*/
select run_id, 1 as times from run
