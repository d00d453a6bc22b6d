/*
description: >
  One row per run and load with at least 100 timed requests in its steady-state window, or in all if it has none: how many independent
  requests would determine the mean latency as well, because requests that were served at the same time resemble each other. By batch means (Flegal and Jones, Batch means and spectral variance
  estimators in Markov chain Monte Carlo, Annals of Statistics 2010): in batches of sqrt(n) requests,
  n * variance of the requests / (size of a batch * variance of the batches' means), at most n.
materialized: incremental
key: [run_id]
grain: [run_id, point]
columns:
  run_id: {tests: [not_null]}
  point: {tests: [not_null]}
  effective_request_count: {type: double, description: "The smaller count of time to first token and end-to-end latency; NULL: neither varies"}
*/
with counted as (
    select
        timed.run_id,
        timed.point,
        if(steady.from_s is null, timed.requests, list_filter(timed.requests, lambda request : request.started_s >= steady.from_s)) as requests
    from serving_timed_requests as timed
    left join serving_steady_window as steady
        on
            steady.run_id = timed.run_id
            and steady.point = timed.point
),

sized as (
    select
        run_id,
        point,
        len(requests) as request_count,
        floor(sqrt(len(requests)))::bigint as batch_size,
        list_transform(requests, lambda request : request.ttft_ms) as ttfts,
        list_transform(requests, lambda request : request.e2e_ms) as latencies
    from counted
    where len(requests) >= 100
),

batched as (
    select
        *,
        list_transform(
            range(request_count // batch_size), lambda batch : list_avg(ttfts[batch * batch_size + 1:(batch + 1) * batch_size])
        ) as batch_ttfts,
        list_transform(
            range(request_count // batch_size), lambda batch : list_avg(latencies[batch * batch_size + 1:(batch + 1) * batch_size])
        ) as batch_latencies
    from sized
),

compared as (
    select
        run_id,
        point,
        request_count,
        least(
            list_var_samp(ttfts) / nullif(batch_size * list_var_samp(batch_ttfts), 0),
            list_var_samp(latencies) / nullif(batch_size * list_var_samp(batch_latencies), 0)
        ) as share
    from batched
)

select
    run_id,
    point,
    if(share > 1, request_count, request_count * share) as effective_request_count
from compared
