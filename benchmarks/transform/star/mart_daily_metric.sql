select
    a.day,
    m.metric_name,
    m.unit,
    s.team,
    avg(a.med) as avg_med,
    max(a.p95) as max_p95,
    sum(a.n) as n
from agg_run_metric as a
inner join dim_metric as m on a.metric_id = m.metric_id
inner join dim_suite as s on a.suite_id = s.suite_id
group by a.day, m.metric_name, m.unit, s.team
