/*
description: >
  One row per run and load: its completed requests whose start and end are known and possible, in the order in which they were sent. As a list, so
  that a figure of their order depends on each of them once.
materialized: view
grain: [run_id, point]
columns:
  point: {type: "struct(workload_point varchar, concurrency_point bigint, request_rate_per_s double)", description: "Which of the run's points, as in serving_outcome_fact"}
  requests: {type: "struct(started_s double, ended_s double, ttft_ms double, tpot_ms double, e2e_ms double, output_token_count bigint)[]", description: "The requests; their times count from the first request of the point"}
*/
select
    run_id,
    struct_pack(workload_point, concurrency_point, request_rate_per_s) as point,
    list(
        struct_pack(started_s, ended_s := started_s + e2e_ms / 1000, ttft_ms, tpot_ms, e2e_ms, output_token_count)
        order by started_s, request_index
    ) as requests
from serving_request
where
    status is distinct from 'failed'
    and status is distinct from 'unfinished'
    and abs(started_s) < 1e7 -- about four months: no benchmark runs longer, so a larger value is not a request time
    and e2e_ms >= 0
    and isfinite(e2e_ms)
group by
    run_id,
    workload_point,
    concurrency_point,
    request_rate_per_s
