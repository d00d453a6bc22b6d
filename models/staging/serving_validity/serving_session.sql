/*
description: >
  One row per run and load whose requests name their sessions (conversations): how many sessions were in flight, from the first request of
  each to the end of its last. What a session does not ask between its turns is part of its time.
materialized: incremental
key: [run_id]
grain: [run_id, point]
columns:
  run_id: {tests: [not_null]}
  point: {type: "struct(workload_point varchar, concurrency_point bigint, request_rate_per_s double)", description: "Which of the run's points", tests: [not_null]}
  are_of_several_turns: {type: boolean, description: "Whether a session has more than one request", tests: [not_null]}
  sessions_in_flight: {type: double, description: "Sum of the sessions' times / time from the first request to the end of the last"}
*/
with session as (
    select
        run_id,
        struct_pack(workload_point, concurrency_point, request_rate_per_s) as point,
        session,
        count(*) as request_count,
        min(started_s) as from_s,
        max(started_s + coalesce(e2e_ms, 0) / 1000) as to_s
    from serving_request
    where session is not null
    group by
        run_id,
        workload_point,
        concurrency_point,
        request_rate_per_s,
        session
)

select
    run_id,
    point,
    max(request_count) > 1 as are_of_several_turns,
    sum(to_s - from_s order by to_s, from_s) / nullif(max(to_s) - min(from_s), 0) as sessions_in_flight
from session
group by
    run_id,
    point
