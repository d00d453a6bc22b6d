/*
description: >
  The requests that published figures are computed from: all of request_fact, which therefore keep their rows whatever their age. A project
  that has too many requests replaces this model (docs/models.md, Requests that leave).
materialized: view
columns:
  run_id: {type: varchar, description: "The run"}
*/
select
    run_id,
    workload_point,
    concurrency_point,
    request_rate_per_s,
    request_index,
    status,
    session,
    scheduled_s,
    started_s,
    ttft_ms,
    tpot_ms,
    itl_mean_ms,
    e2e_ms,
    output_token_count
from request_fact
