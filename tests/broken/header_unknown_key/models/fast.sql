/*
descripton: fast runs
*/
select run_id, speed from run
