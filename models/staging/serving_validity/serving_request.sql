/*
description: >
  The requests that published figures are computed from: all of request_fact, which therefore keep their rows whatever their age. A project
  that has too many requests replaces this model (docs/models.md, Requests that leave).
materialized: view
columns:
  workload_point: {type: varchar, description: "The point of the workload"}
  concurrency_point: {type: bigint, description: "Requests in flight"}
  request_rate_per_s: {type: double, unit: 1/s, description: "Requested arrival rate"}
  status: {type: varchar, description: "How the request ended"}
  scheduled_s: {type: double, unit: s, description: "When it was meant to be sent"}
  started_s: {type: double, unit: s, description: "When it was sent"}
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
