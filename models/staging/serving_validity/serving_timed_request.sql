/*
description: >
  One row per completed request whose start and end are known, with its position in the order in which the requests of its run and load
  were sent.
materialized: view
columns:
  run_id: {type: varchar, description: "The run"}
  point: {type: "struct(workload_point varchar, concurrency_point bigint, request_rate_per_s double)", description: "Which of the run's points, as in serving_outcome_fact"}
  position: {type: bigint, description: "Position in the order of sending, from 0"}
  request_count: {type: bigint, description: "Such requests at this point"}
  started_s: {type: double, unit: s, description: "When it was sent, counted from the first request of its point"}
  ended_s: {type: double, unit: s, description: "When its last token arrived, on the same clock"}
  ttft_ms: {type: double, unit: ms, description: "Time to first token"}
  tpot_ms: {type: double, unit: ms, description: "Time per output token after the first"}
  e2e_ms: {type: double, unit: ms, description: "End-to-end latency"}
  output_token_count: {type: bigint, description: "Output tokens"}
*/
select
    run_id,
    struct_pack(workload_point, concurrency_point, request_rate_per_s) as point,
    row_number() over (
        partition by run_id, workload_point, concurrency_point, request_rate_per_s order by started_s, request_index
    ) - 1 as position,
    count(*) over (partition by run_id, workload_point, concurrency_point, request_rate_per_s) as request_count,
    started_s,
    started_s + e2e_ms / 1000 as ended_s,
    ttft_ms,
    tpot_ms,
    e2e_ms,
    output_token_count
from request_fact
where
    status is distinct from 'failed'
    and status is distinct from 'unfinished'
    and started_s is not null
    and e2e_ms is not null
