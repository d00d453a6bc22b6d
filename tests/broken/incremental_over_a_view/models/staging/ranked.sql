/*
materialized: view
*/
select
    run_id,
    speed,
    row_number() over (order by speed) as place
from run
