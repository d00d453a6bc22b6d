select
    run_id,
    host_id,
    suite_id,
    commit_id,
    started_at,
    cast(started_at as date) as day,
    duration_s,
    status
from read_parquet('data/runs/*.parquet', hive_partitioning = false)
