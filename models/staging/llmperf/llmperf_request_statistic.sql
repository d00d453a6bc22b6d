/*
description: >
  One row per run: statistics of its requests without an error code that the summary does not state. LLMPerf's
  inter_token_latency_s is not the gap between tokens but end-to-end latency / output tokens, so the time per output
  token is computed.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  completed_count: {type: bigint, description: "Requests without an error code", tests: [not_null]}
  failed_count: {type: bigint, description: "Requests with one", tests: [not_null]}
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
with request as (
    select
        run_id,
        artifact_manifest_digest,
        error_code,
        case when error_code is null then ttft_s end as ttft_s,
        case when error_code is null then end_to_end_latency_s end as end_to_end_latency_s,
        case
            when error_code is null and number_output_tokens > 1
                then (end_to_end_latency_s - ttft_s) / (number_output_tokens - 1)
        end as tpot_s
    from llmperf_request
)

select
    run_id,
    artifact_manifest_digest,
    count(*) filter (where error_code is null) as completed_count,
    count(*) filter (where error_code is not null) as failed_count,
    avg(ttft_s) * 1000 as ttft_mean_ms,
    quantile_cont(ttft_s, 0.5) * 1000 as ttft_p50_ms,
    quantile_cont(ttft_s, 0.9) * 1000 as ttft_p90_ms,
    quantile_cont(ttft_s, 0.95) * 1000 as ttft_p95_ms,
    quantile_cont(ttft_s, 0.99) * 1000 as ttft_p99_ms,
    avg(tpot_s) * 1000 as tpot_mean_ms,
    quantile_cont(tpot_s, 0.5) * 1000 as tpot_p50_ms,
    quantile_cont(tpot_s, 0.9) * 1000 as tpot_p90_ms,
    quantile_cont(tpot_s, 0.95) * 1000 as tpot_p95_ms,
    quantile_cont(tpot_s, 0.99) * 1000 as tpot_p99_ms,
    avg(end_to_end_latency_s) * 1000 as e2e_mean_ms,
    quantile_cont(end_to_end_latency_s, 0.5) * 1000 as e2e_p50_ms,
    quantile_cont(end_to_end_latency_s, 0.9) * 1000 as e2e_p90_ms,
    quantile_cont(end_to_end_latency_s, 0.95) * 1000 as e2e_p95_ms,
    quantile_cont(end_to_end_latency_s, 0.99) * 1000 as e2e_p99_ms
from request
group by
    run_id,
    artifact_manifest_digest
