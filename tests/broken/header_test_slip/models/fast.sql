/*
columns:
  run_id: {type: varchar, tests: [notnull]}
  speed: {type: double}
*/
select run_id, speed from run
