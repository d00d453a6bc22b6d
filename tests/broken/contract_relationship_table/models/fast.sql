/*
columns:
  run_id: {type: varchar, tests: [not_null, {relationships: rum.run_id}]}
  speed: {type: double}
*/
select run_id, speed from run
