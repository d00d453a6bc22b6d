/*
columns:
  run_id: {description: The run}
  speed: {type: double}
*/
select run_id, speed from run
