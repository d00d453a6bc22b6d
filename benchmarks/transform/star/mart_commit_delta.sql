with by_commit as (
    select
        a.commit_id,
        a.metric_id,
        a.suite_id,
        avg(a.med) as med,
        avg(a.sd) as sd
    from agg_run_metric as a
    group by a.commit_id, a.metric_id, a.suite_id
)
select
    c.commit_id,
    c.metric_id,
    c.suite_id,
    c.med,
    c.sd,
    lag(c.med) over (partition by c.metric_id, c.suite_id order by c.commit_id) as prev_med,
    c.med - avg(c.med) over (
        partition by c.metric_id, c.suite_id
        order by c.commit_id
        rows between 3 preceding and 1 preceding
    ) as delta
from by_commit as c
