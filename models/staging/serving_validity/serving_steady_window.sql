/*
description: >
  One row per run and load with at least 200 timed requests: its steady-state window by MSER-5 (White, Cobb and Spratt, A comparison of
  five steady-state truncation heuristics for simulation, WSC 2000). Of the mean latencies of five requests each, or of more where there
  are more than a thousand such batches, as many are cut off at the start as leave the smallest standard error of the mean of the others. If that is half or more, as few are cut off as leave others
  that vary by 5 % of their mean at most. There is no window if that is half or more too, or if the means of the two halves of what is
  left differ by more than 10 % and by more than three standard errors, as when a queue grows all the time. The window ends when the last
  request was sent.
materialized: incremental
key: [run_id]
grain: [run_id, point]
columns:
  run_id: {tests: [not_null]}
  point: {tests: [not_null]}
  is_steady: {type: boolean, description: "Whether there is a window", tests: [not_null]}
  from_s: {type: double, unit: s, description: "Its start, counted from the first request; NULL: there is none"}
  to_s: {type: double, unit: s, description: "Its end: the last request was sent"}
  request_count: {type: bigint, description: "Requests that were sent in the window and completed"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens of the requests that completed in the window / its length"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token of the requests sent in the window, p99"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token of the requests sent in the window, p99"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency of the requests sent in the window, p99"}
*/
with batched as (
    select
        run_id,
        point,
        requests,
        greatest(5, len(requests) // 1000) as batch_size,
        list_transform(
            range(len(requests) // greatest(5, len(requests) // 1000)),
            lambda batch : list_avg(
                list_transform(
                    requests[batch * greatest(5, len(requests) // 1000) + 1:(batch + 1) * greatest(5, len(requests) // 1000)],
                    lambda request : request.e2e_ms
                )
            )
        ) as latencies
    from serving_timed_requests
    where len(requests) >= 200
),

-- What is left if so many batches are cut off; of the last four, no standard error is taken.
cut as (
    select
        run_id,
        point,
        requests,
        batch_size,
        latencies,
        list_transform(
            range(len(latencies) - 4),
            lambda kept : list_var_pop(latencies[kept + 1:]) / (len(latencies) - kept)
        ) as errors_squared,
        list_transform(
            range(len(latencies) - 4),
            lambda kept : list_stddev_pop(latencies[kept + 1:]) <= 0.05 * list_avg(latencies[kept + 1:])
        ) as are_flat
    from batched
),

chosen as (
    select
        run_id,
        point,
        requests,
        batch_size,
        latencies,
        list_position(errors_squared, list_min(errors_squared)) - 1 as lowest_batch,
        nullif(list_position(are_flat, true), 0) - 1 as flat_batch
    from cut
),

bounded as (
    select
        run_id,
        point,
        requests,
        batch_size,
        latencies,
        if(lowest_batch * 2 < len(latencies), lowest_batch, flat_batch) as first_batch
    from chosen
),

halved as (
    select
        run_id,
        point,
        requests,
        batch_size,
        len(latencies) as batch_count,
        first_batch,
        latencies[first_batch + 1:(first_batch + len(latencies)) // 2] as early,
        latencies[(first_batch + len(latencies)) // 2 + 1:] as late
    from bounded
),

judged as (
    select
        run_id,
        point,
        requests,
        coalesce(
            first_batch * 2 < batch_count
            and requests[first_batch * batch_size + 1].started_s < requests[len(requests)].started_s
            and (
                abs(list_avg(late) - list_avg(early)) <= 0.1 * (list_avg(late) + list_avg(early)) / 2
                or abs(list_avg(late) - list_avg(early))
                <= 3 * sqrt(list_var_samp(early) / len(early) + list_var_samp(late) / len(late))
            ),
            false
        ) as is_steady,
        first_batch * batch_size as cut_count
    from halved
),

framed as (
    select
        run_id,
        point,
        is_steady,
        if(is_steady, requests[cut_count + 1].started_s, null) as from_s,
        if(is_steady, requests[len(requests)].started_s, null) as to_s,
        if(is_steady, requests[cut_count + 1:], null) as sent,
        requests
    from judged
)

select
    run_id,
    point,
    is_steady,
    from_s,
    to_s,
    len(sent) as request_count,
    list_sum(
        list_transform(
            list_filter(requests, lambda request : request.ended_s >= from_s and request.ended_s <= to_s),
            lambda request : request.output_token_count
        )
    ) / nullif(to_s - from_s, 0) as output_token_throughput_per_s,
    list_aggregate(list_transform(sent, lambda request : request.ttft_ms), 'quantile_cont', 0.99) as ttft_p99_ms,
    list_aggregate(list_transform(sent, lambda request : request.tpot_ms), 'quantile_cont', 0.99) as tpot_p99_ms,
    list_aggregate(list_transform(sent, lambda request : request.e2e_ms), 'quantile_cont', 0.99) as e2e_p99_ms
from framed
