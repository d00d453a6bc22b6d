/*
columns:
  on: {type: varchar}
*/
select run_id, speed from run
