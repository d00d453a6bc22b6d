/*
description: Requests wait longer in the server's queue before work on them begins
playbook: tail_latency_regression
evidence: metrics of the model server (vLLM, SGLang, Triton) in Prometheus' formats, its traces (OTLP), or queueing delays of a serving benchmark
order: 1
*/
with waiting as (
    select
        explained.role,
        explained.run_id,
        slice.metric,
        slice.unit,
        if(slice.value_p95 is null, 'mean', 'p95') as statistic,
        max(coalesce(slice.value_p95, slice.value_mean)) as value,
        bool_and(slice.is_supported) as is_supported,
        min(slice.note) as note,
        arg_max(slice.artifact_manifest_digest, coalesce(slice.value_p95, slice.value_mean)) as artifact_manifest_digest,
        arg_max(slice.raw_path, coalesce(slice.value_p95, slice.value_mean)) as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where slice.metric in ('request_queue_ms', 'requests_waiting')
    group by
        explained.role,
        explained.run_id,
        slice.metric,
        slice.unit,
        statistic
    union all
    -- Triton counts the time that all requests waited, and the requests.
    select
        explained.role,
        explained.run_id,
        'request_queue_ms' as metric,
        'ms' as unit,
        'mean' as statistic,
        1000 * max(slice.value_delta) filter (where slice.metric = 'request_queue_total_s')
        / nullif(max(slice.value_delta) filter (where slice.metric = 'request_count'), 0) as value,
        bool_and(slice.is_supported) as is_supported,
        min(slice.note) as note,
        min(slice.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(slice.raw_path, slice.artifact_manifest_digest || slice.raw_path) as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where slice.metric in ('request_queue_total_s', 'request_count')
    group by
        explained.role,
        explained.run_id,
        slice.subject,
        slice.labels ->> '$.model',
        slice.labels ->> '$.version'
    having max(slice.value_delta) filter (where slice.metric = 'request_queue_total_s') is not null
    union all
    select
        explained.role,
        explained.run_id,
        'span queue_ms' as metric,
        'ms' as unit,
        'p95' as statistic,
        quantile_cont(span.queue_ms, 0.95) as value,
        true as is_supported,
        null as note,
        arg_max(span.artifact_manifest_digest, span.queue_ms) as artifact_manifest_digest,
        arg_max(span.raw_path, span.queue_ms) as raw_path
    from trace_span_fact as span
    inner join explained using (run_id)
    where span.queue_ms is not null
    group by
        explained.role,
        explained.run_id
    union all
    select
        explained.role,
        explained.run_id,
        'request queueing_delay_ms' as metric,
        'ms' as unit,
        'p95' as statistic,
        quantile_cont(request.queueing_delay_ms, 0.95) as value,
        true as is_supported,
        null as note,
        min(request.artifact_manifest_digest) as artifact_manifest_digest,
        null as raw_path
    from request_fact as request
    inner join explained using (run_id)
    where request.queueing_delay_ms is not null
    group by
        explained.role,
        explained.run_id
    union all
    select
        explained.role,
        explained.run_id,
        'queueing_delay_ms' as metric,
        'ms' as unit,
        'worst load point' as statistic,
        max(outcome.queueing_delay_ms) as value,
        true as is_supported,
        null as note,
        min(outcome.artifact_manifest_digest) as artifact_manifest_digest,
        null as raw_path
    from serving_outcome_fact as outcome
    inner join explained using (run_id)
    where outcome.queueing_delay_ms is not null
    group by
        explained.role,
        explained.run_id
),

level as (
    select
        metric,
        unit,
        statistic,
        max(value) filter (where role = 'run') as observed,
        median(value) filter (where role = 'baseline' and is_supported) as expected,
        bool_and(is_supported) filter (where role = 'run') as is_supported,
        min(note) filter (where role = 'run') as note,
        arg_max(artifact_manifest_digest, value) filter (where role = 'run') as artifact_manifest_digest,
        arg_max(raw_path, value) filter (where role = 'run') as raw_path
    from waiting
    group by
        metric,
        unit,
        statistic
),

tail as (
    select max(observed - expected) as added_ms
    from changed
    where
        regexp_matches(metric, '_p99_ms$')
        and observed > expected
)

select
    level.metric as subject,
    if(level.is_supported and level.expected is not null, level.observed > 1.5 * level.expected and level.observed - level.expected > if(level.unit = 'ms', 10, 1), null) as is_found,
    least(
        1, if(level.unit = 'ms' and tail.added_ms > 0, (level.observed - level.expected) / tail.added_ms, 1 - level.expected / nullif(level.observed, 0))
    ) as score,
    case level.metric
        when 'requests_waiting'
            then printf('%.4g requests waited at the server (%s)', level.observed, level.statistic)
        else printf('requests waited %.4g ms in the queue (%s)', level.observed, level.statistic)
    end
    || coalesce(
        printf(', in the baseline %.4g%s', level.expected, if(level.metric = 'requests_waiting', '', ' ms')), '; the baseline has no such figure'
    )
    || coalesce(level.note, '') as statement,
    level.observed,
    level.expected,
    level.unit,
    level.artifact_manifest_digest,
    level.raw_path
from level
cross join tail
where level.observed is not null
