/*
columns:
  run_id: {type: varchar}
  speed: {type: double}
  sped_max: {type: double}
*/
select run_id, speed from run
