/*
description: A tail latency (p99) grew at least half again, and the median or mean of the same latency by less than half of that
playbook: tail_latency_regression
evidence: a serving benchmark with percentiles of latency, and a run to compare with
is_symptom: true
*/
with latency as (
    select
        role,
        run_id,
        point,
        regexp_replace(metric, '_(p99|p50|mean)_ms$', '') as quantity,
        regexp_extract(metric, '_(p99|p50|mean)_ms$', 1) as statistic,
        value
    from measurement
    inner join explained using (run_id)
    where regexp_matches(metric, '_(p99|p50|mean)_ms$')
),

level as (
    select
        quantity,
        point,
        median(value) filter (where role = 'run' and statistic = 'p99') as run_p99,
        median(value) filter (where role = 'baseline' and statistic = 'p99') as baseline_p99,
        median(value) filter (where role = 'run' and statistic = 'p50') as run_p50,
        median(value) filter (where role = 'baseline' and statistic = 'p50') as baseline_p50,
        median(value) filter (where role = 'run' and statistic = 'mean') as run_mean,
        median(value) filter (where role = 'baseline' and statistic = 'mean') as baseline_mean
    from latency
    group by
        quantity,
        point
),

growth as (
    select
        *,
        greatest(1.5, coalesce((
            select max(changed.usual_factor)
            from changed
            where
                changed.metric = level.quantity || '_p99_ms'
                and changed.point = level.point
        ), 1)) as least_growth,
        run_p99 / nullif(baseline_p99, 0) as tail_growth,
        coalesce(run_p50 / nullif(baseline_p50, 0), run_mean / nullif(baseline_mean, 0)) as middle_growth
    from level
)

select
    concat_ws(' ', quantity, nullif(point, '')) as subject,
    tail_growth >= least_growth and middle_growth - 1 < (tail_growth - 1) / 2 as is_found,
    tail_growth - 1 as score,
    printf('p99 is %.2f times that of the baseline, the middle %.2f times', tail_growth, middle_growth) as statement,
    run_p99 as observed,
    baseline_p99 as expected,
    'ms' as unit,
    run.artifact_manifest_digest,
    run.raw_folder as raw_path
from growth
cross join explained as run
where
    run.role = 'run'
    and tail_growth is not null
    and middle_growth is not null
