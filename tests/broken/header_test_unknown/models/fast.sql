/*
columns:
  run_id: {type: varchar, tests: [freshness]}
  speed: {type: double}
*/
select run_id, speed from run
