/*
description: The KV cache is full, and the server preempts requests
playbook: tail_latency_regression
evidence: metrics of the model server (vLLM's num_preemptions_total and kv_cache_usage_perc, SGLang's token_usage) in Prometheus' formats
order: 5
*/
with level as (
    select
        slice.metric,
        slice.subject as server,
        slice.unit,
        max(if(slice.metric = 'preemption_count', slice.value_delta, coalesce(slice.value_p95, slice.value_mean))) filter (where explained.role = 'run')
            as observed,
        bool_and(slice.is_supported) filter (where explained.role = 'run') as is_supported,
        min(slice.note) filter (where explained.role = 'run') as note,
        min(slice.artifact_manifest_digest) filter (where explained.role = 'run') as artifact_manifest_digest,
        arg_min(slice.raw_path, slice.artifact_manifest_digest || slice.raw_path) filter (where explained.role = 'run') as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where slice.metric in ('preemption_count', 'kv_cache_used_pct')
    group by
        slice.metric,
        server,
        slice.unit
),

usual as (
    select
        metric,
        median(value) as value
    from (
        select
            slice.run_id,
            slice.metric,
            max(if(slice.metric = 'preemption_count', slice.value_delta, coalesce(slice.value_p95, slice.value_mean))) as value
        from run_telemetry as slice
        inner join explained using (run_id)
        where
            slice.metric in ('preemption_count', 'kv_cache_used_pct')
            and slice.is_supported
            and explained.role = 'baseline'
        group by
            slice.run_id,
            slice.metric
    ) as of_run
    group by metric
)

select
    concat_ws(' ', 'server', level.server) as subject,
    case
        when not level.is_supported then null
        when level.metric = 'preemption_count' then level.observed > 0 and coalesce(level.observed > 2 * usual.value, true)
        else level.observed >= 95 and coalesce(usual.value < 90, true)
    end as is_found,
    if(level.metric = 'preemption_count', 1 - coalesce(usual.value, 0) / nullif(level.observed, 0), 0.5) as score,
    if(
        level.metric = 'preemption_count', printf('it preempted %.4g requests', level.observed),
        printf('its KV cache was %.3g %% full (p95)', level.observed)
    )
    || coalesce(
        printf(', in the baseline %.4g%s', usual.value, if(level.metric = 'preemption_count', '', ' %')), '; the baseline has no such figure'
    )
    || coalesce(level.note, '') as statement,
    level.observed,
    usual.value as expected,
    level.unit,
    level.artifact_manifest_digest,
    level.raw_path
from level
left join usual
    on usual.metric = level.metric
where level.observed is not null
