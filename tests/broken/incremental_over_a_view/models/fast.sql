/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select run_id, place
from ranked
where place <= 10
