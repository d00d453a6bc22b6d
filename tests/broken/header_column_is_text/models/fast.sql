/*
columns:
  run_id: varchar
  speed: double
*/
select run_id, speed from run
