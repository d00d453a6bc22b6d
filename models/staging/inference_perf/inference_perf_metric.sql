/*
description: >
  One row per stage of a run: what its lifecycle report states, as the client measured it, in seconds. From the
  server's own metrics only the queueing time is taken; 0 there means that the metric was not exported. schedule_delay
  is the client's own delay, not queueing.
grain: [run_id, artifact_manifest_digest, point]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  point: {type: varchar, description: "The stage", tests: [not_null]}
  requested_rate_per_s: {type: double, unit: 1/s, description: "Requested arrival rate"}
  concurrency: {type: double, description: "Requests in flight, for a closed loop"}
  completed_count: {type: double, description: "Requests completed"}
  failed_count: {type: double, description: "Requests that failed"}
  ttft_mean_ms: {type: double, unit: ms, description: "Time to first token, mean"}
  ttft_p50_ms: {type: double, unit: ms, description: "Time to first token, p50"}
  ttft_p90_ms: {type: double, unit: ms, description: "Time to first token, p90"}
  ttft_p95_ms: {type: double, unit: ms, description: "Time to first token, p95"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token, p99"}
  tpot_mean_ms: {type: double, unit: ms, description: "Time per output token, mean"}
  tpot_p50_ms: {type: double, unit: ms, description: "Time per output token, p50"}
  tpot_p90_ms: {type: double, unit: ms, description: "Time per output token, p90"}
  tpot_p95_ms: {type: double, unit: ms, description: "Time per output token, p95"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token, p99"}
  itl_mean_ms: {type: double, unit: ms, description: "Inter-token latency, mean"}
  itl_p50_ms: {type: double, unit: ms, description: "Inter-token latency, p50"}
  itl_p90_ms: {type: double, unit: ms, description: "Inter-token latency, p90"}
  itl_p95_ms: {type: double, unit: ms, description: "Inter-token latency, p95"}
  itl_p99_ms: {type: double, unit: ms, description: "Inter-token latency, p99"}
  e2e_mean_ms: {type: double, unit: ms, description: "End-to-end latency, mean"}
  e2e_p50_ms: {type: double, unit: ms, description: "End-to-end latency, p50"}
  e2e_p90_ms: {type: double, unit: ms, description: "End-to-end latency, p90"}
  e2e_p95_ms: {type: double, unit: ms, description: "End-to-end latency, p95"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency, p99"}
  request_throughput_per_s: {type: double, unit: 1/s, description: "Requests completed per second"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens per second"}
  total_token_throughput_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second"}
  queueing_delay_ms: {type: double, unit: ms, description: "Time in the server's queue, mean"}
  benchmark_time_s: {type: double, unit: s, description: "Duration of the stage"}
*/
select
    run_id,
    artifact_manifest_digest,
    point,
    max(value_number) filter (where source = 'lifecycle' and key = 'load_summary/requested_rate') as requested_rate_per_s,
    max(value_number) filter (where source = 'lifecycle' and key = 'load_summary/concurrency') as concurrency,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/count') as completed_count,
    max(value_number) filter (where source = 'lifecycle' and key = 'failures/count') as failed_count,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/time_to_first_token/mean') * 1000 as ttft_mean_ms,
    max(value_number) filter (where source = 'lifecycle' and key in ('successes/latency/time_to_first_token/median', 'successes/latency/time_to_first_token/p50')) * 1000 as ttft_p50_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/time_to_first_token/p90') * 1000 as ttft_p90_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/time_to_first_token/p95') * 1000 as ttft_p95_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/time_to_first_token/p99') * 1000 as ttft_p99_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/time_per_output_token/mean') * 1000 as tpot_mean_ms,
    max(value_number) filter (where source = 'lifecycle' and key in ('successes/latency/time_per_output_token/median', 'successes/latency/time_per_output_token/p50')) * 1000 as tpot_p50_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/time_per_output_token/p90') * 1000 as tpot_p90_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/time_per_output_token/p95') * 1000 as tpot_p95_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/time_per_output_token/p99') * 1000 as tpot_p99_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/inter_token_latency/mean') * 1000 as itl_mean_ms,
    max(value_number) filter (where source = 'lifecycle' and key in ('successes/latency/inter_token_latency/median', 'successes/latency/inter_token_latency/p50')) * 1000 as itl_p50_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/inter_token_latency/p90') * 1000 as itl_p90_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/inter_token_latency/p95') * 1000 as itl_p95_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/inter_token_latency/p99') * 1000 as itl_p99_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/request_latency/mean') * 1000 as e2e_mean_ms,
    max(value_number) filter (where source = 'lifecycle' and key in ('successes/latency/request_latency/median', 'successes/latency/request_latency/p50')) * 1000 as e2e_p50_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/request_latency/p90') * 1000 as e2e_p90_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/request_latency/p95') * 1000 as e2e_p95_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'successes/latency/request_latency/p99') * 1000 as e2e_p99_ms,
    max(value_number) filter (
        where source = 'lifecycle' and key = 'successes/throughput/requests_per_sec'
    ) as request_throughput_per_s,
    max(value_number) filter (
        where source = 'lifecycle' and key = 'successes/throughput/output_tokens_per_sec'
    ) as output_token_throughput_per_s,
    max(value_number) filter (
        where source = 'lifecycle' and key = 'successes/throughput/total_tokens_per_sec'
    ) as total_token_throughput_per_s,
    nullif(
        max(value_number) filter (where source = 'prometheus' and key = 'successes/request_queue_time/mean'), 0
    ) * 1000 as queueing_delay_ms,
    max(value_number) filter (where source = 'lifecycle' and key = 'benchmark_time_seconds') as benchmark_time_s
from inference_perf_entry
where
    point is not null
    and point != 'summary'
    and source != 'adapter'
group by
    run_id,
    artifact_manifest_digest,
    point
