/*
description: fast runs
grian: [run_id]
*/
select run_id from run
