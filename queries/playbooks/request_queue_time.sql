/*
description: Requests wait longer in the server's queue before work on them begins
playbook: tail_latency_regression
evidence: metrics of the model server (vLLM, SGLang, Triton) in Prometheus' formats, or queueing delays of a serving benchmark
order: 1
*/
with waiting as (
    select
        explained.role,
        explained.run_id,
        slice.metric,
        slice.unit,
        coalesce(slice.value_p95, slice.value_mean) as value,
        slice.is_supported,
        slice.artifact_manifest_digest,
        slice.raw_path
    from telemetry_slice_fact as slice
    inner join explained using (run_id)
    where
        slice.metric in ('request_queue_ms', 'requests_waiting')
        and slice.window_kind = 'run'
    union all
    select
        explained.role,
        explained.run_id,
        'queueing_delay_ms' as metric,
        'ms' as unit,
        max(outcome.queueing_delay_ms) as value,
        true as is_supported,
        outcome.artifact_manifest_digest,
        null as raw_path
    from serving_outcome_fact as outcome
    inner join explained using (run_id)
    where outcome.queueing_delay_ms is not null
    group by
        explained.role,
        explained.run_id,
        outcome.artifact_manifest_digest
),

level as (
    select
        metric,
        unit,
        max(value) filter (where role = 'run') as observed,
        median(value) filter (where role = 'baseline') as expected,
        bool_and(is_supported) as is_supported,
        arg_max(artifact_manifest_digest, value) filter (where role = 'run') as artifact_manifest_digest,
        arg_max(raw_path, value) filter (where role = 'run') as raw_path
    from waiting
    group by
        metric,
        unit
)

select
    metric as subject,
    if(is_supported, observed > 1.5 * expected and observed - expected > if(unit = 'ms', 10, 1), null) as is_found,
    least(1, 1 - expected / nullif(observed, 0)) as score,
    printf('%s is %.4g %s at p95, in the baseline %.4g', metric, observed, unit, expected) as statement,
    observed,
    expected,
    unit,
    artifact_manifest_digest,
    raw_path
from level
where
    observed is not null
    and expected is not null
