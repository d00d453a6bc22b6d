/*
description: fast runs: those above 3
*/
select run_id, speed from run
