/*
description: >
  One row per report of trtllm-bench. It counts no failures, so failed requests and the error rate are NULL. It states the
  mean number of requests in flight, not the concurrency that was asked for.
grain: [run_id, artifact_manifest_digest]
feeds: serving_outcome
*/
with latency as (
    select
        run_id,
        artifact_manifest_digest,
        nullif(max(value_number) filter (where key = 'streaming_metrics/ttft_percentiles/average'), 0) as ttft_mean_ms,
        nullif(max(value_number) filter (where key = 'streaming_metrics/ttft_percentiles/p50'), 0) as ttft_p50_ms,
        nullif(max(value_number) filter (where key = 'streaming_metrics/ttft_percentiles/p90'), 0) as ttft_p90_ms,
        nullif(max(value_number) filter (where key = 'streaming_metrics/ttft_percentiles/p95'), 0) as ttft_p95_ms,
        nullif(max(value_number) filter (where key = 'streaming_metrics/ttft_percentiles/p99'), 0) as ttft_p99_ms,
        nullif(max(value_number) filter (where key = 'streaming_metrics/tpot_percentiles/average'), 0) as tpot_mean_ms,
        nullif(max(value_number) filter (where key = 'streaming_metrics/tpot_percentiles/p50'), 0) as tpot_p50_ms,
        nullif(max(value_number) filter (where key = 'streaming_metrics/tpot_percentiles/p90'), 0) as tpot_p90_ms,
        nullif(max(value_number) filter (where key = 'streaming_metrics/tpot_percentiles/p95'), 0) as tpot_p95_ms,
        nullif(max(value_number) filter (where key = 'streaming_metrics/tpot_percentiles/p99'), 0) as tpot_p99_ms,
        nullif(max(value_number) filter (where key = 'performance/request_latency_percentiles_ms/average'), 0) as e2e_mean_ms,
        nullif(max(value_number) filter (where key = 'performance/request_latency_percentiles_ms/p50'), 0) as e2e_p50_ms,
        nullif(max(value_number) filter (where key = 'performance/request_latency_percentiles_ms/p90'), 0) as e2e_p90_ms,
        nullif(max(value_number) filter (where key = 'performance/request_latency_percentiles_ms/p95'), 0) as e2e_p95_ms,
        nullif(max(value_number) filter (where key = 'performance/request_latency_percentiles_ms/p99'), 0) as e2e_p99_ms
    from trtllm_bench_entry
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    run.artifact_manifest_digest,
    run.workload_point,
    nullif(concat_ws(' ', 'TP' || run.tensor_parallel, 'PP' || run.pipeline_parallel, 'EP' || run.expert_parallel), '') as deployment_model,
    metric.completed_count,
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
    metric.output_token_throughput_per_s,
    metric.total_token_throughput_per_s,
    run.implied_accelerator_count,
    run.accelerator_count_ratio
from trtllm_bench_run as run
left join latency
    on
        latency.run_id = run.run_id
        and latency.artifact_manifest_digest = run.artifact_manifest_digest
left join trtllm_bench_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
