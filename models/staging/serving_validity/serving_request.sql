/*
description: >
  The requests that published figures are computed from: all of request_fact, which therefore keep their rows whatever their age. A project
  that has too many requests replaces this model (docs/models.md, Requests that leave).
materialized: view
columns:
  run_id: {type: varchar, description: "The run"}
  workload_point: {type: varchar, description: "The point of the workload"}
  concurrency_point: {type: bigint, description: "Requests in flight"}
  request_rate_per_s: {type: double, unit: 1/s, description: "Requested arrival rate"}
  request_index: {type: bigint, description: "Place in the file, from 0"}
  status: {type: varchar, description: "How the request ended"}
  scheduled_s: {type: double, unit: s, description: "When it was meant to be sent"}
  started_s: {type: double, unit: s, description: "When it was sent"}
  ttft_ms: {type: double, unit: ms, description: "Time to first token"}
  tpot_ms: {type: double, unit: ms, description: "Time per output token after the first"}
  itl_mean_ms: {type: double, unit: ms, description: "Inter-token latency, mean over the request's gaps"}
  e2e_ms: {type: double, unit: ms, description: "End-to-end latency"}
  output_token_count: {type: bigint, description: "Output tokens"}
*/
select
    run_id,
    workload_point,
    concurrency_point,
    request_rate_per_s,
    request_index,
    status,
    scheduled_s,
    started_s,
    ttft_ms,
    tpot_ms,
    itl_mean_ms,
    e2e_ms,
    output_token_count
from request_fact
