/*
description: >
  One row per job whose traces have steps: the mean time of a step, which is that of the rank that takes longest, and how
  many steps and ranks there are. A profiled step takes longer than one that is not.
grain: [run_id, artifact_manifest_digest, kind, key]
feeds: performance_indicator
*/
with step as (
    select
        run_id,
        artifact_manifest_digest,
        step,
        max(window_s) as step_time_s
    from kineto_window
    where step is not null
    group by
        run_id,
        artifact_manifest_digest,
        step
),

rank as (
    select
        run_id,
        artifact_manifest_digest,
        count(distinct rank) as rank_count
    from kineto_trace
    group by
        run_id,
        artifact_manifest_digest
),

of_job as (
    select
        step.run_id,
        step.artifact_manifest_digest,
        avg(step.step_time_s order by step.step) as step_time_mean_s,
        count(*)::double as step_count,
        max(rank.rank_count)::double as rank_count
    from step
    inner join rank
        on
            rank.run_id = step.run_id
            and rank.artifact_manifest_digest = step.artifact_manifest_digest
    group by
        step.run_id,
        step.artifact_manifest_digest
)

select
    run_id,
    artifact_manifest_digest,
    'pytorch_profiler' as indicator,
    'pytorch' as component,
    if(key = 'step_time_mean_s', 'result', 'other') as kind,
    key,
    'number' as value_type,
    value::varchar as value_text,
    value as value_number
from of_job
unpivot (value for key in (step_time_mean_s, step_count, rank_count))
