/*
description: >
  One row per run and load with at least 100 timed requests in its steady-state window, or in all if it has none: how many independent
  requests would tell as much of the mean latency, because requests that were served at the same time resemble each other. By batch means (Flegal and Jones, Batch means and spectral variance
  estimators in Markov chain Monte Carlo, Annals of Statistics 2010): in batches of sqrt(n) requests,
  n * variance of the requests / (size of a batch * variance of the batches' means), at most n.
materialized: incremental
key: [run_id]
grain: [run_id, point]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  point: {type: "struct(workload_point varchar, concurrency_point bigint, request_rate_per_s double)", description: "Which of the run's points", tests: [not_null]}
  effective_request_count: {type: double, description: "The smaller count of time to first token and end-to-end latency; NULL: neither varies"}
*/
with counted as (
    select
        request.run_id,
        request.point,
        request.ttft_ms,
        request.e2e_ms,
        request.position - min(request.position) over (partition by request.run_id, request.point) as position,
        count(*) over (partition by request.run_id, request.point) as request_count
    from serving_timed_request as request
    left join serving_steady_window as steady
        on
            steady.run_id = request.run_id
            and steady.point = request.point
    where
        steady.from_s is null
        or request.started_s >= steady.from_s
),

sized as (
    select
        *,
        floor(sqrt(request_count))::bigint as batch_size
    from counted
    where request_count >= 100
),

batch as (
    select
        run_id,
        point,
        batch_size,
        avg(ttft_ms) as ttft_ms,
        avg(e2e_ms) as e2e_ms
    from sized
    where position < request_count // batch_size * batch_size
    group by
        run_id,
        point,
        batch_size,
        position // batch_size
),

of_batches as (
    select
        run_id,
        point,
        batch_size,
        var_samp(ttft_ms) as ttft,
        var_samp(e2e_ms) as e2e
    from batch
    group by
        run_id,
        point,
        batch_size
),

of_requests as (
    select
        run_id,
        point,
        request_count,
        var_samp(ttft_ms) as ttft,
        var_samp(e2e_ms) as e2e
    from sized
    group by
        run_id,
        point,
        request_count
),

compared as (
    select
        of_requests.run_id,
        of_requests.point,
        of_requests.request_count,
        least(
            of_requests.ttft / nullif(of_batches.batch_size * of_batches.ttft, 0),
            of_requests.e2e / nullif(of_batches.batch_size * of_batches.e2e, 0)
        ) as share
    from of_requests
    inner join of_batches
        on
            of_batches.run_id = of_requests.run_id
            and of_batches.point = of_requests.point
)

select
    run_id,
    point,
    if(share > 1, request_count, request_count * share) as effective_request_count
from compared
