/*
grain: [run_id]
*/
select
    run_id,
    to_seconds(speed) as took
from run
