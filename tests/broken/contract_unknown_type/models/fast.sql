/*
columns:
  run_id: {type: varchr}
  speed: {type: double}
*/
select run_id, speed from run
