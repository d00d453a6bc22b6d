/*
description: >
  One row per window and server that AIPerf scraped: the gauges of vLLM and SGLang for requests and cache. A server is
  an endpoint with its labels, such as its rank. A file without times covers the whole run: from its first request,
  for the duration that the summary states. The cache usage is a ratio, read under the older and the newer name of
  vLLM and under that of SGLang.
grain: [run_id, artifact_manifest_digest, scope_name, window_start]
feeds: telemetry_slice
*/
with measured as (
    select
        run_id,
        artifact_manifest_digest,
        max(value_number) filter (where key = 'min_request_timestamp/avg') as started_ns,
        epoch(try_cast(max(value) filter (where key = 'end_time') as timestamptz))
        - epoch(try_cast(max(value) filter (where key = 'start_time') as timestamptz)) as duration_s
    from genai_perf_entry
    group by
        run_id,
        artifact_manifest_digest
),

clock as (
    select
        run_id,
        artifact_manifest_digest,
        min(started_ns) as started_ns
    from genai_perf_timing_statistic
    group by
        run_id,
        artifact_manifest_digest
),

gauge as (
    select
        metric.run_id,
        metric.artifact_manifest_digest,
        concat_ws(' ', metric.endpoint, metric.labels) as scope_name,
        coalesce(metric.start_ns, clock.started_ns, measured.started_ns) as start_ns,
        coalesce(metric.end_ns, coalesce(clock.started_ns, measured.started_ns) + measured.duration_s * 1e9) as end_ns,
        metric.metric,
        metric.value_avg
    from genai_perf_server_metric as metric
    left join clock
        on
            clock.run_id = metric.run_id
            and clock.artifact_manifest_digest = metric.artifact_manifest_digest
    left join measured
        on
            measured.run_id = metric.run_id
            and measured.artifact_manifest_digest = metric.artifact_manifest_digest
    where
        metric.value_avg is not null
        and metric.metric in (
            'vllm:num_requests_running', 'sglang:num_running_reqs', 'vllm:num_requests_waiting', 'sglang:num_queue_reqs',
            'vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc', 'sglang:token_usage'
        )
)

select
    run_id,
    artifact_manifest_digest,
    'server' as scope,
    scope_name,
    to_timestamp(start_ns / 1e9) as window_start,
    to_timestamp(max(end_ns) / 1e9) as window_end,
    (max(end_ns) - start_ns) / 1e9 as duration_s,
    max(value_avg) filter (where metric in ('vllm:num_requests_running', 'sglang:num_running_reqs')) as requests_running,
    max(value_avg) filter (where metric in ('vllm:num_requests_waiting', 'sglang:num_queue_reqs')) as requests_waiting,
    100 * max(value_avg) filter (
        where metric in ('vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc', 'sglang:token_usage')
    ) as kv_cache_used_pct
from gauge
where start_ns is not null
group by
    run_id,
    artifact_manifest_digest,
    scope_name,
    start_ns
