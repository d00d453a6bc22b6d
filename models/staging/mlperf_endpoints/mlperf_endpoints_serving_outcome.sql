/*
description: >
  One row per report of MLPerf Endpoints. Its rates and end-to-end latencies have the failed requests in them.
grain: [run_id, artifact_manifest_digest]
feeds: serving_outcome
*/
with latency as (
    select
        run_id,
        artifact_manifest_digest,
        max(value_number) filter (where key = 'ttft/avg') / 1e6 as ttft_mean_ms,
        max(value_number) filter (where key in ('ttft/percentiles/50', 'ttft/percentiles/50.0')) / 1e6 as ttft_p50_ms,
        max(value_number) filter (where key in ('ttft/percentiles/90', 'ttft/percentiles/90.0')) / 1e6 as ttft_p90_ms,
        max(value_number) filter (where key in ('ttft/percentiles/95', 'ttft/percentiles/95.0')) / 1e6 as ttft_p95_ms,
        max(value_number) filter (where key in ('ttft/percentiles/99', 'ttft/percentiles/99.0')) / 1e6 as ttft_p99_ms,
        max(value_number) filter (where key = 'tpot/avg') / 1e6 as tpot_mean_ms,
        max(value_number) filter (where key in ('tpot/percentiles/50', 'tpot/percentiles/50.0')) / 1e6 as tpot_p50_ms,
        max(value_number) filter (where key in ('tpot/percentiles/90', 'tpot/percentiles/90.0')) / 1e6 as tpot_p90_ms,
        max(value_number) filter (where key in ('tpot/percentiles/95', 'tpot/percentiles/95.0')) / 1e6 as tpot_p95_ms,
        max(value_number) filter (where key in ('tpot/percentiles/99', 'tpot/percentiles/99.0')) / 1e6 as tpot_p99_ms,
        max(value_number) filter (where key = 'latency/avg') / 1e6 as e2e_mean_ms,
        max(value_number) filter (where key in ('latency/percentiles/50', 'latency/percentiles/50.0')) / 1e6 as e2e_p50_ms,
        max(value_number) filter (where key in ('latency/percentiles/90', 'latency/percentiles/90.0')) / 1e6 as e2e_p90_ms,
        max(value_number) filter (where key in ('latency/percentiles/95', 'latency/percentiles/95.0')) / 1e6 as e2e_p95_ms,
        max(value_number) filter (where key in ('latency/percentiles/99', 'latency/percentiles/99.0')) / 1e6 as e2e_p99_ms
    from mlperf_endpoints_entry
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    run.artifact_manifest_digest,
    coalesce(run.load_pattern, 'all') as workload_point,
    run.concurrency as concurrency_point,
    run.request_rate_per_s,
    metric.completed_count,
    metric.failed_count,
    metric.failed_count / nullif(metric.completed_count + metric.failed_count, 0) as error_rate,
    latency.ttft_mean_ms,
    latency.ttft_p50_ms,
    latency.ttft_p90_ms,
    latency.ttft_p95_ms,
    latency.ttft_p99_ms,
    latency.tpot_mean_ms,
    latency.tpot_p50_ms,
    latency.tpot_p90_ms,
    latency.tpot_p95_ms,
    latency.tpot_p99_ms,
    latency.e2e_mean_ms,
    latency.e2e_p50_ms,
    latency.e2e_p90_ms,
    latency.e2e_p95_ms,
    latency.e2e_p99_ms,
    metric.request_throughput_per_s,
    metric.output_token_throughput_per_s
from mlperf_endpoints_run as run
left join latency
    on
        latency.run_id = run.run_id
        and latency.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_endpoints_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
