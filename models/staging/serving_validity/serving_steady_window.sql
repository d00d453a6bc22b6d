/*
description: >
  One row per run and load with at least 200 timed requests: its steady-state window by MSER-5 (White, Cobb and Spratt, A comparison of
  five steady-state truncation heuristics for simulation, WSC 2000). Of the mean latencies of five requests each, as many are cut off at
  the start as leave the smallest standard error of the mean of the others. If that is half or more, as few are cut off as leave others
  that vary by 5 % of their mean at most. There is no window if that is half or more too, or if the means of the two halves of what is
  left differ by more than 10 % and by more than three standard errors, as when a queue grows all the time. The window ends when the last
  request was sent.
materialized: incremental
key: [run_id]
grain: [run_id, point]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  point: {type: "struct(workload_point varchar, concurrency_point bigint, request_rate_per_s double)", description: "Which of the run's points", tests: [not_null]}
  is_steady: {type: boolean, description: "Whether there is a window", tests: [not_null]}
  from_s: {type: double, unit: s, description: "Its start, counted from the first request; NULL: there is none"}
  to_s: {type: double, unit: s, description: "Its end: the last request was sent"}
  request_count: {type: bigint, description: "Requests that were sent in the window and completed"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens of the requests that completed in the window / its length"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token of the requests sent in the window, p99"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token of the requests sent in the window, p99"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency of the requests sent in the window, p99"}
*/
with batch as (
    select
        run_id,
        point,
        position // 5 as batch,
        request_count // 5 as batch_count,
        avg(e2e_ms) as latency
    from serving_timed_request
    where
        request_count >= 200
        and position < request_count // 5 * 5
    group by
        run_id,
        point,
        position // 5,
        request_count // 5
),

centred as (
    select
        *,
        avg(latency) over (partition by run_id, point) as level,
        latency - avg(latency) over (partition by run_id, point) as deviation
    from batch
),

rest as (
    select
        *,
        batch_count - batch as kept,
        sum(deviation) over from_here as total,
        sum(deviation * deviation) over from_here as squares
    from centred
    window from_here as (partition by run_id, point order by batch desc rows unbounded preceding)
),

-- The last four batches are too few for a standard error.
scored as (
    select
        *,
        (squares - total * total / kept) / (kept * kept) as error_squared,
        squares / kept - (total / kept) ** 2 <= (0.05 * (level + total / kept)) ** 2 as is_flat
    from rest
    where kept >= 5
),

compared as (
    select
        *,
        min(error_squared) over (partition by run_id, point) as lowest
    from scored
),

chosen as (
    select
        run_id,
        point,
        batch_count,
        min(batch) filter (where error_squared = lowest) as lowest_batch,
        min(batch) filter (where is_flat) as flat_batch
    from compared
    group by
        run_id,
        point,
        batch_count
),

bounded as (
    select
        run_id,
        point,
        batch_count,
        if(lowest_batch * 2 < batch_count, lowest_batch, flat_batch) as first_batch
    from chosen
),

halves as (
    select
        batch.run_id,
        batch.point,
        bounded.first_batch,
        bounded.batch_count,
        batch.batch * 2 < bounded.first_batch + bounded.batch_count as is_first_half,
        avg(batch.latency) as latency,
        var_samp(batch.latency) / count(*) as error_squared
    from batch
    inner join bounded
        on
            bounded.run_id = batch.run_id
            and bounded.point = batch.point
    where batch.batch >= coalesce(bounded.first_batch, 0)
    group by
        batch.run_id,
        batch.point,
        bounded.first_batch,
        bounded.batch_count,
        batch.batch * 2 < bounded.first_batch + bounded.batch_count
),

truncated as (
    select
        run_id,
        point,
        coalesce(first_batch * 2 < batch_count, false)
        and (
            max(latency) - min(latency) <= 0.1 * (max(latency) + min(latency)) / 2
            or max(latency) - min(latency) <= 3 * sqrt(sum(error_squared))
        ) as is_steady,
        first_batch * 5 as first_position
    from halves
    group by
        run_id,
        point,
        first_batch,
        batch_count
),

framed as (
    select
        request.*,
        truncated.is_steady,
        truncated.is_steady and request.position >= truncated.first_position as is_sent_in_window,
        min(request.started_s) filter (where truncated.is_steady and request.position >= truncated.first_position)
            over (partition by request.run_id, request.point) as from_s,
        max(request.started_s) filter (where truncated.is_steady) over (partition by request.run_id, request.point) as to_s
    from serving_timed_request as request
    inner join truncated
        on
            truncated.run_id = request.run_id
            and truncated.point = request.point
)

select
    run_id,
    point,
    is_steady,
    from_s,
    to_s,
    count(*) filter (where is_sent_in_window) as request_count,
    sum(output_token_count) filter (where ended_s >= from_s and ended_s <= to_s) / nullif(to_s - from_s, 0) as output_token_throughput_per_s,
    quantile_cont(ttft_ms, 0.99) filter (where is_sent_in_window) as ttft_p99_ms,
    quantile_cont(tpot_ms, 0.99) filter (where is_sent_in_window) as tpot_p99_ms,
    quantile_cont(e2e_ms, 0.99) filter (where is_sent_in_window) as e2e_p99_ms
from framed
group by
    run_id,
    point,
    is_steady,
    from_s,
    to_s
