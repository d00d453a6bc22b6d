/*
claim: fastest
*/
select run_id, speed from run
