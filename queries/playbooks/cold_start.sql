/*
description: The first steps, which compile and fill caches, take more of what was measured than in the baseline
playbook: [low_gpu_utilization, slow_host]
evidence: the time of each step, in a training log or in profiler traces (Kineto), and a run to compare with
order: 6
part: start
*/
with stated as (
    select
        traced.run_id,
        traced.step,
        max(traced.step_time_s) as step_time_s,
        min(traced.raw_path) as raw_path
    from rank_step_fact as traced
    where traced.step is not null
    group by
        traced.run_id,
        traced.step
    union all
    select
        logged.run_id,
        logged.position as step,
        logged.step_time_s,
        null as raw_path
    from step_fact as logged
    where
        logged.covers = 'step'
        and logged.phase = 'train'
),

step as (
    select
        explained.role,
        explained.artifact_manifest_digest,
        stated.*,
        median(stated.step_time_s) over (partition by stated.run_id) as middle_s,
        row_number() over (
            partition by stated.run_id
            order by stated.step
        ) as position
    from stated
    inner join explained using (run_id)
    where stated.step_time_s > 0
),

-- What the first tenth of the steps took beyond the usual step.
start as (
    select
        role,
        run_id,
        count(*) as steps,
        sum(step_time_s) as total_s,
        coalesce(sum(step_time_s - middle_s) filter (where position <= greatest(1, steps_of_run / 10) and step_time_s > 1.5 * middle_s), 0) as extra_s,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        min(raw_path) as raw_path
    from (
        select
            *,
            count(*) over (partition by run_id) as steps_of_run
        from step
    ) as counted
    group by
        role,
        run_id
    having count(*) >= 10
),

usual as (
    select median(extra_s / total_s) as share
    from start
    where role = 'baseline'
)

select
    'first steps' as subject,
    if(usual.share is not null, own.extra_s / own.total_s >= 0.05 and own.extra_s / own.total_s > 1.5 * usual.share, null) as is_found,
    (1 - usual.share) / (1 - least(0.99, own.extra_s / own.total_s)) as slowdown,
    (1 - usual.share) / (1 - least(0.99, own.extra_s / own.total_s)) as slowdown_least,
    printf('they took %.4g s more than the median step, of %.4g s for %d steps', own.extra_s, own.total_s, own.steps)
    || coalesce(printf(' (%.3g %%), in the baseline %.3g %%', 100 * own.extra_s / own.total_s, 100 * usual.share), '; the baseline has no such figure')
        as statement,
    100 * own.extra_s / own.total_s as observed,
    100 * usual.share as expected,
    '%' as unit,
    own.artifact_manifest_digest,
    own.raw_path
from start as own
cross join usual
where own.role = 'run'
