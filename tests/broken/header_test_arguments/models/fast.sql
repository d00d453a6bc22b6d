/*
columns:
  run_id: {type: varchar}
  speed: {type: double, tests: [{range: {low: 0}}]}
*/
select run_id, speed from run
