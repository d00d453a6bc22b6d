/*
description: A metric other than a tail got worse by at least 10 %, and the GPUs were busy for as much of the time as in the baseline
playbook: slow_gpus
evidence: a benchmark and a run to compare with, and utilisation or clocks of GPUs (dcgm-exporter, wh record)
is_symptom: true
*/
with level as (
    select
        explained.role,
        explained.run_id,
        avg(slice.value_mean order by slice.value_mean) filter (where slice.metric = 'gpu_util_pct') as util_pct,
        avg(slice.value_mean order by slice.value_mean) filter (where slice.metric = 'gpu_sm_active_pct') as active_pct,
        min(slice.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(slice.raw_path, slice.artifact_manifest_digest || slice.raw_path) as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where
        slice.metric in ('gpu_util_pct', 'gpu_sm_active_pct', 'gpu_sm_clock_mhz')
        and slice.is_supported
    group by
        explained.role,
        explained.run_id
),

busy as (
    select
        max(active_pct) filter (where role = 'run') as active_pct,
        median(active_pct) filter (where role = 'baseline') as usual_active_pct,
        max(util_pct) filter (where role = 'run') as util_pct,
        median(util_pct) filter (where role = 'baseline') as usual_util_pct,
        min(artifact_manifest_digest) filter (where role = 'run') as artifact_manifest_digest,
        min(raw_path) filter (where role = 'run') as raw_path
    from level
),

compared as (
    select
        artifact_manifest_digest,
        raw_path,
        if(active_pct is null or usual_active_pct is null, util_pct, active_pct) as observed,
        if(active_pct is null or usual_active_pct is null, usual_util_pct, usual_active_pct) as expected
    from busy
    where artifact_manifest_digest is not null
),

worst as (
    select
        metric,
        observed,
        expected,
        unit,
        usual_factor,
        if(better = 'lower', observed / expected, expected / observed) as worse_by
    from changed
    where
        better in ('lower', 'higher')
        and not regexp_matches(metric, 'p9[0-9]|max')
        and observed > 0
        and expected > 0
    order by
        worse_by / greatest(1.1, usual_factor) desc,
        metric
    limit 1
)

select
    worst.metric as subject,
    worst.worse_by >= greatest(1.1, worst.usual_factor) and compared.observed > 0.9 * compared.expected as is_found,
    1 - 1 / worst.worse_by as score,
    printf('it is %.4g %s, in the baseline %.4g %s; ', worst.observed, coalesce(worst.unit, ''), worst.expected, coalesce(worst.unit, ''))
    || coalesce(
        printf('the GPUs were busy for %.3g %% of the time, in the baseline for %.3g %%', compared.observed, compared.expected),
        'how busy the GPUs were, there and in the baseline, is not known'
    ) as statement,
    worst.observed,
    worst.expected,
    worst.unit,
    compared.artifact_manifest_digest,
    compared.raw_path
from worst
cross join compared
