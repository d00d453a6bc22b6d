/*
columns:
  run_id: {type: varchar}
  speeds: {type: double}
*/
select run_id, speed from run
