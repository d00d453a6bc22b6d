/*
description: speed of each run
materialized: incremental
key: [run_id]
*/
select run_id, speed
from run tablesample reservoir(100 rows) repeatable (1)
