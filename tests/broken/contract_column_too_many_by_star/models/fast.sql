/*
columns:
  run_id: {type: varchar}
  host: {type: varchar}
  speed: {type: double}
*/
select * from run
