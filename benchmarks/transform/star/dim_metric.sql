select
    metric_id,
    metric_name,
    unit,
    lower_is_better,
    case when lower_is_better then -1 else 1 end as sign
from stg_metric
