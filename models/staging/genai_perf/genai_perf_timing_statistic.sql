/*
description: >
  One row per run and point with requests: statistics that no summary states.
grain: [run_id, artifact_manifest_digest, point_index]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {tests: [not_null]}
  point_index: {tests: [not_null]}
  completed_count: {type: bigint, description: "Requests that brought an answer", tests: [not_null]}
  failed_count: {type: bigint, description: "Requests that did not", tests: [not_null]}
  started_ns: {type: bigint, unit: ns, description: "When the first was sent, since the epoch"}
  ended_ns: {type: bigint, unit: ns, description: "When the last response came, since the epoch"}
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
  e2e_mean_ms: {type: double, unit: ms, description: "End-to-end latency, mean"}
  e2e_p50_ms: {type: double, unit: ms, description: "End-to-end latency, p50"}
  e2e_p90_ms: {type: double, unit: ms, description: "End-to-end latency, p90"}
  e2e_p95_ms: {type: double, unit: ms, description: "End-to-end latency, p95"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency, p99"}
*/
select
    run_id,
    artifact_manifest_digest,
    point_index,
    count(*) filter (where not is_failed) as completed_count,
    count(*) filter (where is_failed) as failed_count,
    min(started_ns) as started_ns,
    max(ended_ns) as ended_ns,
    avg(ttft_ms) filter (where not is_failed) as ttft_mean_ms,
    quantile_cont(ttft_ms, 0.5) filter (where not is_failed) as ttft_p50_ms,
    quantile_cont(ttft_ms, 0.9) filter (where not is_failed) as ttft_p90_ms,
    quantile_cont(ttft_ms, 0.95) filter (where not is_failed) as ttft_p95_ms,
    quantile_cont(ttft_ms, 0.99) filter (where not is_failed) as ttft_p99_ms,
    avg(tpot_ms) filter (where not is_failed) as tpot_mean_ms,
    quantile_cont(tpot_ms, 0.5) filter (where not is_failed) as tpot_p50_ms,
    quantile_cont(tpot_ms, 0.9) filter (where not is_failed) as tpot_p90_ms,
    quantile_cont(tpot_ms, 0.95) filter (where not is_failed) as tpot_p95_ms,
    quantile_cont(tpot_ms, 0.99) filter (where not is_failed) as tpot_p99_ms,
    avg(e2e_ms) filter (where not is_failed) as e2e_mean_ms,
    quantile_cont(e2e_ms, 0.5) filter (where not is_failed) as e2e_p50_ms,
    quantile_cont(e2e_ms, 0.9) filter (where not is_failed) as e2e_p90_ms,
    quantile_cont(e2e_ms, 0.95) filter (where not is_failed) as e2e_p95_ms,
    quantile_cont(e2e_ms, 0.99) filter (where not is_failed) as e2e_p99_ms
from genai_perf_timing
group by
    run_id,
    artifact_manifest_digest,
    point_index
