/*
columns:
  run_id: {type: integer}
  sped: {type: double}
*/
select run_id, speed from run
