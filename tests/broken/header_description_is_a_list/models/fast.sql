/*
description: [fast, runs]
*/
select run_id, speed from run
