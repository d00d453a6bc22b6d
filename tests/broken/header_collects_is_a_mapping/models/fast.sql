/*
collects: {outcome: 1}
*/
select run_id, speed from run
