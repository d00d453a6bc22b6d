/*
description: >
  One row per run, workload point, load and SLO: how many of its requests ended, meet all limits of the SLO, and leave it open. A failed
  request meets none, and an unfinished one is not counted. A request of one output token has no time between tokens, so it is within limits on tpot_ms and itl_mean_ms. A request
  is open if a time is missing that could decide. Runs whose evidence has no requests have no row.
materialized: incremental
key: [run_id]
grain: [run_id, workload_point, concurrency_point, request_rate_per_s, slo]
columns:
  run_id: {tests: [not_null]}
  workload_point: {tests: [not_null]}
  slo: {type: varchar, description: "The SLO (serving_slo)", tests: [not_null]}
  total: {type: bigint, description: "Requests that ended"}
  met: {type: bigint, description: "Requests that meet all limits"}
  open: {type: bigint, description: "Requests of which the evidence does not say whether they do"}
*/
with judged as (
    select
        request.run_id,
        request.workload_point,
        request.concurrency_point,
        request.request_rate_per_s,
        serving_slo.slo,
        case
            when request.status = 'failed' then false
            else
                (serving_slo.ttft_ms is null or request.ttft_ms <= serving_slo.ttft_ms)
                and (serving_slo.e2e_ms is null or request.e2e_ms <= serving_slo.e2e_ms)
                and (
                    serving_slo.tpot_ms is null
                    or request.tpot_ms <= serving_slo.tpot_ms
                    or coalesce(request.tpot_ms is null and request.output_token_count <= 1, false)
                )
                and (
                    serving_slo.itl_mean_ms is null
                    or request.itl_mean_ms <= serving_slo.itl_mean_ms
                    or coalesce(request.itl_mean_ms is null and request.output_token_count <= 1, false)
                )
        end as is_met
    from serving_request as request
    cross join serving_slo
    where request.status is distinct from 'unfinished'
)

select
    run_id,
    workload_point,
    concurrency_point,
    request_rate_per_s,
    slo,
    count(*) as total,
    count(*) filter (is_met) as met,
    count(*) filter (is_met is null) as open
from judged
group by
    run_id,
    workload_point,
    concurrency_point,
    request_rate_per_s,
    slo
