select
    d.commit_id,
    k.short_sha,
    k.author,
    m.metric_name,
    s.suite_name,
    d.delta,
    d.delta / nullif(d.sd, 0) as z
from mart_commit_delta as d
inner join dim_commit as k on d.commit_id = k.commit_id
inner join dim_metric as m on d.metric_id = m.metric_id
inner join dim_suite as s on d.suite_id = s.suite_id
where d.delta * m.sign < 0 and abs(d.delta) > 5
