/*
description: >
  One row per run with a summary: its statistics. The tools' inter_token_latency is, per request, (end to end - time
  to first token) / (output tokens - 1), which is called time per output token here. AIPerf's inter_chunk_latency
  covers all gaps of the run.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {tests: [not_null]}
  ttft_mean_ms: {type: double, unit: ms, description: "Time to first token, mean"}
  ttft_p50_ms: {type: double, unit: ms, description: "Time to first token, p50"}
  ttft_p90_ms: {type: double, unit: ms, description: "Time to first token, p90"}
  ttft_p95_ms: {type: double, unit: ms, description: "Time to first token, p95"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token, p99"}
  tpot_mean_ms: {type: double, unit: ms, description: "Time per output token after the first, mean"}
  tpot_p50_ms: {type: double, unit: ms, description: "Time per output token after the first, p50"}
  tpot_p90_ms: {type: double, unit: ms, description: "Time per output token after the first, p90"}
  tpot_p95_ms: {type: double, unit: ms, description: "Time per output token after the first, p95"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token after the first, p99"}
  itl_mean_ms: {type: double, unit: ms, description: "Time between responses, mean"}
  itl_p50_ms: {type: double, unit: ms, description: "Time between responses, p50"}
  itl_p90_ms: {type: double, unit: ms, description: "Time between responses, p90"}
  itl_p95_ms: {type: double, unit: ms, description: "Time between responses, p95"}
  itl_p99_ms: {type: double, unit: ms, description: "Time between responses, p99"}
  itl_std_ms: {type: double, unit: ms, description: "Time between responses, standard deviation over all gaps of the run"}
  e2e_mean_ms: {type: double, unit: ms, description: "End-to-end latency, mean"}
  e2e_p50_ms: {type: double, unit: ms, description: "End-to-end latency, p50"}
  e2e_p90_ms: {type: double, unit: ms, description: "End-to-end latency, p90"}
  e2e_p95_ms: {type: double, unit: ms, description: "End-to-end latency, p95"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency, p99"}
  request_throughput_per_s: {type: double, unit: 1/s, description: "Requests per second"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens per second"}
  total_token_throughput_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second"}
  request_count: {type: double, description: "Requests completed, where the summary counts them"}
  error_request_count: {type: double, description: "Requests that failed, where the summary counts them"}
*/
select
    run_id,
    artifact_manifest_digest,
    max(value) filter (where quantity = 'time' and metric = 'time_to_first_token' and statistic = 'avg') as ttft_mean_ms,
    max(value) filter (where quantity = 'time' and metric = 'time_to_first_token' and statistic = 'p50') as ttft_p50_ms,
    max(value) filter (where quantity = 'time' and metric = 'time_to_first_token' and statistic = 'p90') as ttft_p90_ms,
    max(value) filter (where quantity = 'time' and metric = 'time_to_first_token' and statistic = 'p95') as ttft_p95_ms,
    max(value) filter (where quantity = 'time' and metric = 'time_to_first_token' and statistic = 'p99') as ttft_p99_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_token_latency' and statistic = 'avg') as tpot_mean_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_token_latency' and statistic = 'p50') as tpot_p50_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_token_latency' and statistic = 'p90') as tpot_p90_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_token_latency' and statistic = 'p95') as tpot_p95_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_token_latency' and statistic = 'p99') as tpot_p99_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_chunk_latency' and statistic = 'avg') as itl_mean_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_chunk_latency' and statistic = 'p50') as itl_p50_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_chunk_latency' and statistic = 'p90') as itl_p90_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_chunk_latency' and statistic = 'p95') as itl_p95_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_chunk_latency' and statistic = 'p99') as itl_p99_ms,
    max(value) filter (where quantity = 'time' and metric = 'inter_chunk_latency' and statistic = 'std') as itl_std_ms,
    max(value) filter (where quantity = 'time' and metric = 'request_latency' and statistic = 'avg') as e2e_mean_ms,
    max(value) filter (where quantity = 'time' and metric = 'request_latency' and statistic = 'p50') as e2e_p50_ms,
    max(value) filter (where quantity = 'time' and metric = 'request_latency' and statistic = 'p90') as e2e_p90_ms,
    max(value) filter (where quantity = 'time' and metric = 'request_latency' and statistic = 'p95') as e2e_p95_ms,
    max(value) filter (where quantity = 'time' and metric = 'request_latency' and statistic = 'p99') as e2e_p99_ms,
    max(value) filter (
        where quantity = 'rate' and metric = 'request_throughput' and statistic = 'avg'
    ) as request_throughput_per_s,
    max(value) filter (
        where quantity = 'rate' and metric = 'output_token_throughput' and statistic = 'avg'
    ) as output_token_throughput_per_s,
    max(value) filter (
        where quantity = 'rate' and metric = 'total_token_throughput' and statistic = 'avg'
    ) as total_token_throughput_per_s,
    max(value) filter (where quantity = 'count' and metric = 'request_count' and statistic = 'avg') as request_count,
    max(value) filter (where quantity = 'count' and metric = 'error_request_count' and statistic = 'avg') as error_request_count
from genai_perf_statistic
group by
    run_id,
    artifact_manifest_digest
