/*
description: >
  One row per benchmark with requests: their time per output token, which no aggregate states.
grain: [run_id, artifact_manifest_digest, benchmark_index]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  benchmark_index: {type: bigint, description: "Which benchmark of the report", tests: [not_null]}
  tpot_mean_ms: {type: double, unit: ms, description: "Time per output token after the first, mean"}
  tpot_p50_ms: {type: double, unit: ms, description: "Time per output token after the first, p50"}
  tpot_p90_ms: {type: double, unit: ms, description: "Time per output token after the first, p90"}
  tpot_p95_ms: {type: double, unit: ms, description: "Time per output token after the first, p95"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token after the first, p99"}
*/
select
    run_id,
    artifact_manifest_digest,
    benchmark_index,
    avg(inter_token_latency_ms) as tpot_mean_ms,
    quantile_cont(inter_token_latency_ms, 0.5) as tpot_p50_ms,
    quantile_cont(inter_token_latency_ms, 0.9) as tpot_p90_ms,
    quantile_cont(inter_token_latency_ms, 0.95) as tpot_p95_ms,
    quantile_cont(inter_token_latency_ms, 0.99) as tpot_p99_ms
from guidellm_request
where
    status = 'successful'
    and output_tokens > 1
group by
    run_id,
    artifact_manifest_digest,
    benchmark_index
