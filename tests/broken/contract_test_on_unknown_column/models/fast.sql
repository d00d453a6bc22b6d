/*
columns:
  run_id: {type: varchar}
  speed: {type: double}
  host: {type: varchar, tests: [not_null]}
*/
select run_id, speed from run
