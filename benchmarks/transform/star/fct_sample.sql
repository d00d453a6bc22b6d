select
    s.run_id,
    s.metric_id,
    s.iteration,
    s.value,
    s.value * m.sign as score,
    r.host_id,
    r.suite_id,
    r.commit_id,
    s.ts,
    s.day
from stg_sample as s
inner join stg_run as r on s.run_id = r.run_id
inner join dim_metric as m on s.metric_id = m.metric_id
