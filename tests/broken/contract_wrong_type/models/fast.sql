/*
columns:
  run_id: {type: varchar}
  speed: {type: bigint, unit: ms}
*/
select run_id, speed from run
