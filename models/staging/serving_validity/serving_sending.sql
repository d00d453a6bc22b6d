/*
description: >
  One row per run and load whose requests are known: when its requests were sent beside when they were meant to be, how many the end of
  the run cut off, and how many streams broke. A client that waits for answers before it sends later than meant hides the worst latencies
  (coordinated omission: Tene, How not to measure latency).
materialized: incremental
key: [run_id]
grain: [run_id, point]
columns:
  run_id: {tests: [not_null]}
  point: {type: "struct(workload_point varchar, concurrency_point bigint, request_rate_per_s double)", description: "Which of the run's points", tests: [not_null]}
  send_lag_p99_ms: {type: double, unit: ms, description: "How much later than meant requests were sent, p99; NULL: intended times are not stated"}
  coordinated_omission: {type: double, description: "By which share the p99 of TTFT or of the end-to-end latency is higher if it is counted from when requests were meant to be sent, the greater one; NULL: intended times are not stated"}
  send_rate_error: {type: double, description: "Rate at which requests were sent / rate asked for, minus 1: below 0 too slow, above 0 too fast, and 0 within three standard errors of the mean gap; NULL: closed loop, or fewer than 50 send times"}
  unfinished_share: {type: double, description: "Share of the requests that the end of the run cut off"}
  cut_stream_share: {type: double, description: "Share of the requests that count as completed, and have no output token, or a first token and no end"}
*/
with request as (
    select
        run_id,
        struct_pack(workload_point, concurrency_point, request_rate_per_s) as point,
        if(isfinite(request_rate_per_s), nullif(request_rate_per_s, 0), null) as asked_per_s,
        status is distinct from 'failed' and status is distinct from 'unfinished' as is_completed,
        status = 'unfinished' as is_unfinished,
        output_token_count,
        ttft_ms,
        e2e_ms,
        (started_s - scheduled_s) * 1000 as lag_ms,
        started_s - lag(started_s) over (
            partition by run_id, workload_point, concurrency_point, request_rate_per_s order by started_s nulls last, request_index
        ) as gap_s
    from serving_request
),

summed as (
    select
        run_id,
        point,
        asked_per_s,
        count(gap_s) as gap_count,
        avg(gap_s) as gap_s,
        -- Gaps vary by chance as much as their mean (Poisson), or twice that if they are bursty. A pause of the client varies more, and is not a gap.
        3 * least(stddev_samp(gap_s), 2 / asked_per_s) / sqrt(count(gap_s)) as error_s,
        count(*) as request_count,
        count(*) filter (where is_completed) as completed_count,
        count(*) filter (where is_unfinished) as unfinished_count,
        count(*) filter (where is_completed and (output_token_count = 0 or (e2e_ms is null and ttft_ms is not null))) as cut_count,
        quantile_cont(lag_ms, 0.99) as send_lag_p99_ms,
        quantile_cont(ttft_ms + lag_ms, 0.99) filter (where is_completed) as ttft_p99_as_meant_ms,
        quantile_cont(ttft_ms, 0.99) filter (where is_completed and lag_ms is not null) as ttft_p99_ms,
        quantile_cont(e2e_ms + lag_ms, 0.99) filter (where is_completed) as e2e_p99_as_meant_ms,
        quantile_cont(e2e_ms, 0.99) filter (where is_completed and lag_ms is not null) as e2e_p99_ms
    from request
    group by
        run_id,
        point,
        asked_per_s
)

select
    run_id,
    point,
    send_lag_p99_ms,
    greatest(e2e_p99_as_meant_ms / nullif(e2e_p99_ms, 0) - 1, ttft_p99_as_meant_ms / nullif(ttft_p99_ms, 0) - 1) as coordinated_omission,
    case
        when gap_count >= 49 and asked_per_s * (gap_s - error_s) > 1 then 1 / (asked_per_s * (gap_s - error_s)) - 1
        when gap_count >= 49 and asked_per_s * (gap_s + error_s) < 1 then 1 / nullif(asked_per_s * (gap_s + error_s), 0) - 1
        when gap_count >= 49 and asked_per_s is not null then 0
    end as send_rate_error,
    unfinished_count / request_count as unfinished_share,
    cut_count / nullif(completed_count, 0) as cut_stream_share
from summed
