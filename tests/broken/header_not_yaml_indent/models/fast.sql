/*
description: fast runs
  grain: [run_id]
*/
select run_id, speed from run
