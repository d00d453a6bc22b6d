/*
description: Some steps take far longer than the median step
playbook: distributed_straggler
evidence: profiler traces with annotated steps (Kineto), or a training log with the time of each step
is_symptom: true
order: 1
*/
with stated as (
    select
        traced.run_id,
        traced.step,
        max(traced.step_time_s) as step_time_s
    from rank_step_fact as traced
    where traced.step is not null
    group by
        traced.run_id,
        traced.step
    union all
    select
        logged.run_id,
        logged.position as step,
        logged.step_time_s
    from step_fact as logged
    where
        logged.covers = 'step'
        and logged.phase = 'train'
),

-- The first step compiles and fills caches.
step as (
    select *
    from stated
    qualify step > min(step) over (partition by run_id)
),

spread as (
    select
        explained.role,
        step.run_id,
        count(*) as step_count,
        median(step.step_time_s) as middle_s,
        quantile_cont(step.step_time_s, 0.95) as slow_s
    from step
    inner join explained
        on explained.run_id = step.run_id
    where step.step_time_s > 0
    group by
        explained.role,
        step.run_id
    having count(*) >= 10
),

level as (
    select
        max(slow_s) filter (where role = 'run') as slow_s,
        max(middle_s) filter (where role = 'run') as middle_s,
        max(step_count) filter (where role = 'run') as step_count,
        median(slow_s / middle_s) filter (where role = 'baseline') as usual
    from spread
)

select
    'steps' as subject,
    level.slow_s > level.middle_s * greatest(1.25, 1.1 * coalesce(level.usual, 1)) as is_found,
    level.slow_s / level.middle_s - 1 as score,
    printf('of %d steps after the first, one in twenty takes more than %.3f times the median', level.step_count, level.slow_s / level.middle_s)
    || coalesce(printf(', in the baseline %.3f times', level.usual), '') as statement,
    level.slow_s as observed,
    level.middle_s as expected,
    's' as unit,
    explained.artifact_manifest_digest,
    explained.raw_folder as raw_path
from level
cross join explained
where
    explained.role = 'run'
    and level.slow_s is not null
