/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select run_id, speed
from run
where speed > (select avg(speed) from run)
