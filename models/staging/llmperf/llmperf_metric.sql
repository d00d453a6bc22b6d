/*
description: >
  One row per run: what its summary states of the requests without an error code. Versions that nest their results
  have the same keys with `/` instead of `_`. All times of LLMPerf are in seconds.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  written_at_s: {type: double, unit: s, description: "When the summary was written, epoch seconds"}
  framework: {type: varchar, description: "Who or what served, as the user named it"}
  completed_count: {type: double, description: "Requests completed"}
  failed_count: {type: double, description: "Requests that failed"}
  completed_per_min: {type: double, unit: 1/min, description: "Requests completed per minute"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens / duration of the test"}
  ttft_mean_ms: {type: double, unit: ms, description: "Time to first token, mean"}
  ttft_p50_ms: {type: double, unit: ms, description: "Time to first token, p50"}
  ttft_p90_ms: {type: double, unit: ms, description: "Time to first token, p90"}
  ttft_p95_ms: {type: double, unit: ms, description: "Time to first token, p95"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token, p99"}
  e2e_mean_ms: {type: double, unit: ms, description: "End-to-end latency, mean"}
  e2e_p50_ms: {type: double, unit: ms, description: "End-to-end latency, p50"}
  e2e_p90_ms: {type: double, unit: ms, description: "End-to-end latency, p90"}
  e2e_p95_ms: {type: double, unit: ms, description: "End-to-end latency, p95"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency, p99"}
*/
with stated as (
    select
        run_id,
        artifact_manifest_digest,
        replace(key, '/', '_') as key,
        value,
        value_number
    from llmperf_entry
)

select
    run_id,
    artifact_manifest_digest,
    max(value_number) filter (where key = 'timestamp') as written_at_s,
    max(value) filter (where key = 'framework') as framework,
    max(value_number) filter (where key = 'results_num_completed_requests') as completed_count,
    max(value_number) filter (where key = 'results_number_errors') as failed_count,
    max(value_number) filter (where key = 'results_num_completed_requests_per_min') as completed_per_min,
    max(value_number) filter (where key = 'results_mean_output_throughput_token_per_s') as output_token_throughput_per_s,
    max(value_number) filter (where key = 'results_ttft_s_mean') * 1000 as ttft_mean_ms,
    max(value_number) filter (where key = 'results_ttft_s_quantiles_p50') * 1000 as ttft_p50_ms,
    max(value_number) filter (where key = 'results_ttft_s_quantiles_p90') * 1000 as ttft_p90_ms,
    max(value_number) filter (where key = 'results_ttft_s_quantiles_p95') * 1000 as ttft_p95_ms,
    max(value_number) filter (where key = 'results_ttft_s_quantiles_p99') * 1000 as ttft_p99_ms,
    max(value_number) filter (where key = 'results_end_to_end_latency_s_mean') * 1000 as e2e_mean_ms,
    max(value_number) filter (where key = 'results_end_to_end_latency_s_quantiles_p50') * 1000 as e2e_p50_ms,
    max(value_number) filter (where key = 'results_end_to_end_latency_s_quantiles_p90') * 1000 as e2e_p90_ms,
    max(value_number) filter (where key = 'results_end_to_end_latency_s_quantiles_p95') * 1000 as e2e_p95_ms,
    max(value_number) filter (where key = 'results_end_to_end_latency_s_quantiles_p99') * 1000 as e2e_p99_ms
from stated
group by
    run_id,
    artifact_manifest_digest
