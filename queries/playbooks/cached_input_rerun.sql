/*
description: With cached or synthetic input the throughput is back, so that the input path is slow and not the model's code
playbook: low_gpu_utilization
evidence: a run of the same case with cached, synthetic or in-memory input, stated in its parameters or workload
order: 5
part: input
*/
with described as (
    select
        run.run_id,
        run.benchmark_case_id,
        run.hardware_topology_key,
        run.artifact_manifest_digest,
        run.raw_folder,
        measured.indicator,
        measured.metric,
        measured.point,
        measured.value,
        regexp_extract(
            lower(concat_ws(' ', measured.parameters, workload.workload_document)),
            '("?[a-z_]*(?:input|data|dataset|dataloader|loader)[a-z_]*"?\s*[:=]\s*"?[a-z_ -]*(?:cached|synthetic|dummy|fake|mock|in[_ -]?memory)[a-z_-]*'
            || '|"?[a-z_]*(?:cached?|synthetic|dummy|fake|mock|in_?memory)_?(?:input|data|dataset)s?"?\s*[:=]\s*"?(?:true|1|yes|on)\b)',
            1
        ) as setting
    from benchmark_run_fact as run
    inner join measurement as measured
        on measured.run_id = run.run_id
    left join workload_dim as workload
        on workload.workload_spec_digest = run.workload_spec_digest
    where
        run.status = 'succeeded'
        and run.state = 'admitted'
        and measured.better = 'higher'
        and measured.metric like '%\_per\_s' escape '\'
),

reran as (
    select
        other.metric,
        other.point,
        other.setting,
        other.run_id,
        other.value as rerun,
        own.value as observed,
        usual.expected,
        usual.unit,
        other.artifact_manifest_digest,
        other.raw_folder
    from described as own
    inner join explained
        on
            explained.run_id = own.run_id
            and explained.role = 'run'
    inner join described as other
        on
            other.benchmark_case_id = own.benchmark_case_id
            and other.hardware_topology_key is not distinct from own.hardware_topology_key
            and other.indicator = own.indicator
            and other.metric = own.metric
            and other.point = own.point
            and other.run_id <> own.run_id
    left join changed as usual
        on
            usual.indicator = own.indicator
            and usual.metric = own.metric
            and usual.point = own.point
    where
        own.setting = ''
        and other.setting <> ''
)

select
    concat_ws(' ', 'run', run_id, metric, nullif(point, '')) as subject,
    if(
        expected is null, null,
        observed <= 0.9 * expected and rerun - observed >= 0.5 * (expected - observed)
    ) as is_found,
    rerun / nullif(observed, 0) as slowdown,
    rerun / nullif(observed, 0) as slowdown_least,
    greatest(0, least(1, (rerun - observed) / nullif(expected - observed, 0))) as score,
    printf('with %s it reached %.4g %s, this run %.4g, and the baseline %.4g', replace(setting, '"', ''), rerun, coalesce(unit, ''), observed, expected) as statement,
    observed,
    rerun as expected,
    unit,
    artifact_manifest_digest,
    raw_folder as raw_path
from reran
