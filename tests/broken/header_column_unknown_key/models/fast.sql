/*
columns:
  run_id: {type: varchar, desc: The run}
  speed: {type: double}
*/
select run_id, speed from run
