select
    metric_id,
    metric_name,
    unit,
    lower_is_better
from read_parquet('data/base/metrics.parquet')
