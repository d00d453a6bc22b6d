/*
description: >
  One row per time slice of AIPerf and metric: what the client saw of the requests in the window.
grain: [run_id, artifact_manifest_digest, metric, window_start]
feeds: telemetry_slice
*/
with stated as (
    select
        run_id,
        artifact_manifest_digest,
        start_ns,
        end_ns,
        request_count as sample_count,
        unnest([
            {metric: 'request_count', unit: 'count', mean: request_count::double, p99: null},
            {metric: 'request_throughput_per_s', unit: '1/s', mean: request_throughput_per_s, p99: null},
            {metric: 'output_token_throughput_per_s', unit: 'tokens/s', mean: output_token_throughput_per_s, p99: null},
            {metric: 'total_token_throughput_per_s', unit: 'tokens/s', mean: total_token_throughput_per_s, p99: null},
            {metric: 'ttft_ms', unit: 'ms', mean: ttft_mean_ms, p99: ttft_p99_ms},
            {metric: 'tpot_ms', unit: 'ms', mean: tpot_mean_ms, p99: tpot_p99_ms},
            {metric: 'e2e_ms', unit: 'ms', mean: e2e_mean_ms, p99: e2e_p99_ms}
        ]) as statistic
    from genai_perf_slice
    where start_ns is not null
)

select
    run_id,
    artifact_manifest_digest,
    'interval' as window_kind,
    to_timestamp(start_ns / 1e9) as window_start,
    to_timestamp(end_ns / 1e9) as window_end,
    'client' as scope,
    statistic.metric,
    statistic.unit,
    sample_count,
    statistic.mean as value_mean,
    statistic.p99 as value_p99
from stated
where coalesce(statistic.mean, statistic.p99) is not null
