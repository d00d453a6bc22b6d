/*
columns: [run_id, speed]
*/
select run_id, speed from run
