/*
columns:
  run_id: {type: varchar, tests: not_null}
  speed: {type: double}
*/
select run_id, speed from run
