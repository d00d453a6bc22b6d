/*
grain: [run_id]
description: fast
grain: [speed]
*/
select run_id, speed from run
