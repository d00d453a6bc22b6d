/*
description: Throughput fell by at least 10 %, and the GPUs were busy for less of the time than in the baseline, or for less than 60 %
playbook: low_gpu_utilization
evidence: a benchmark with a throughput and a run to compare with, and GPU utilisation (DCGM_FI_PROF_SM_ACTIVE, DCGM_FI_DEV_GPU_UTIL); or profiler traces (Kineto) of both
is_symptom: true
*/
with busy as (
    select
        explained.role,
        slice.metric,
        explained.run_id,
        avg(slice.value_mean order by slice.value_mean) as value,
        bool_and(slice.is_supported) as is_supported,
        min(slice.note) as note,
        count(distinct coalesce(slice.gpu_uuid, slice.subject)) as gpus,
        min(slice.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(slice.raw_path, slice.artifact_manifest_digest || slice.raw_path) as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where
        slice.metric in ('gpu_sm_active_pct', 'gpu_util_pct')
        and slice.value_mean is not null
        and not slice.is_idle_neighbour
        and slice.is_neighbour is distinct from true
    group by
        explained.role,
        slice.metric,
        explained.run_id
),

-- By profiler, of each rank: its peers wait in a collective for the one that waits, and their GPUs are busy with that.
of_rank as (
    select
        explained.role,
        step.run_id,
        step.rank,
        median(step.step_time_s) as step_s,
        100 * (1 - median(step.idle_s / step.step_time_s)) as busy_pct,
        min(step.artifact_manifest_digest) as artifact_manifest_digest,
        min(step.raw_path) as raw_path
    from rank_step_fact as step
    inner join explained using (run_id)
    where
        step.step is not null
        and step.step_time_s > 0
        and step.idle_s is not null
    group by
        explained.role,
        step.run_id,
        step.rank
),

of_run as (
    select
        role,
        run_id,
        arg_min(rank, busy_pct) as rank,
        max(step_s) as step_s,
        min(busy_pct) as busy_pct,
        arg_min(artifact_manifest_digest, busy_pct) as artifact_manifest_digest,
        arg_min(raw_path, busy_pct) as raw_path
    from of_rank
    group by
        role,
        run_id
),

usual_traced as (
    select
        median(step_s) as step_s,
        median(busy_pct) as busy_pct
    from of_run
    where role = 'baseline'
),

level as (
    select
        metric,
        max(value) filter (where role = 'run') as observed,
        median(value) filter (where role = 'baseline' and is_supported) as expected,
        min(note) filter (where role = 'run') as note,
        bool_and(is_supported) filter (where role = 'run') as is_supported,
        max(gpus) filter (where role = 'run') as gpus,
        min(artifact_manifest_digest) filter (where role = 'run') as artifact_manifest_digest,
        arg_min(raw_path, artifact_manifest_digest || raw_path) filter (where role = 'run') as raw_path
    from busy
    group by metric
),

throughput as (
    select
        metric,
        observed,
        expected,
        unit,
        usual_factor,
        1 - observed / expected as lost
    from changed
    where
        better = 'higher'
        and metric like '%\_per\_s' escape '\'
        and expected > 0
    order by
        lost desc,
        metric
    limit 1
)

select
    level.metric as subject,
    if(level.is_supported, throughput.lost >= greatest(0.1, 1 - 1 / throughput.usual_factor) and (level.observed < 60 or coalesce(level.observed < 0.9 * level.expected, false)), null) as is_found,
    greatest(0, throughput.lost) as score,
    printf('mean of %d %s: %.3g %%', level.gpus, if(level.gpus = 1, 'GPU', 'GPUs'), level.observed)
    || coalesce(printf(', in the baseline %.3g %%', level.expected), '; the baseline has no such figure')
    || printf('; %s is %.4g %s, in the baseline %.4g', throughput.metric, throughput.observed, coalesce(throughput.unit, ''), throughput.expected)
    || coalesce(level.note, '') as statement,
    level.observed,
    level.expected,
    '%' as unit,
    level.artifact_manifest_digest,
    level.raw_path
from level
cross join throughput
where level.observed is not null
union all
select
    'rank ' || coalesce(own.rank, 0) as subject,
    own.step_s >= 1.1 * usual_traced.step_s and own.busy_pct < 0.9 * usual_traced.busy_pct as is_found,
    greatest(0, 1 - usual_traced.step_s / own.step_s) as score,
    printf(
        'its GPU was busy for %.3g %% of a step, in the baseline the idlest for %.3g %%; a step takes %.4g s, in the baseline %.4g s',
        own.busy_pct, usual_traced.busy_pct, own.step_s, usual_traced.step_s
    ) as statement,
    own.busy_pct as observed,
    usual_traced.busy_pct as expected,
    '%' as unit,
    own.artifact_manifest_digest,
    own.raw_path
from of_run as own
cross join usual_traced
where
    own.role = 'run'
    and usual_traced.step_s > 0
