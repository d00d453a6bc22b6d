/*
columns:
  run_id: {type: varchar}
  speed: {type: double, unit: 1}
*/
select run_id, speed from run
