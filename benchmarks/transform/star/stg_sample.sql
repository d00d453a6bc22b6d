select
    run_id,
    metric_id,
    iteration,
    value,
    ts,
    cast(ts as date) as day
from read_parquet('data/samples/*.parquet', hive_partitioning = false)
