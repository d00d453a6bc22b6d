select
    run_id,
    metric_id,
    host_id,
    suite_id,
    commit_id,
    day,
    count(*) as n,
    median(value) as med,
    quantile_cont(value, 0.95) as p95,
    stddev_samp(value) as sd
from fct_sample
group by run_id, metric_id, host_id, suite_id, commit_id, day
