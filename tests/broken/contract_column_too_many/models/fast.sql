/*
columns:
  run_id: {type: varchar}
  speed: {type: double}
*/
select
    run_id,
    speed,
    host as place
from run
