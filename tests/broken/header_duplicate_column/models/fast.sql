/*
columns:
  run_id: {type: varchar}
  speed: {type: double}
  run_id: {type: varchar}
*/
select run_id, speed from run
