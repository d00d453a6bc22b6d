/*
columns:
  run_id:
    type: varchar
    tests:
      - unique
      - relationships: run.id_run
  speed: {type: double}
*/
select run_id, speed from run
