/*
description: >
  One row per performance run, load curve, load and SLO for its model: how many requests met the SLO, and how many each second. The
  observations that serving_goodput is a statistic of. A run that has a load more than once is one observation: its requests are
  counted together, and its rates are averaged. Failed runs and copies are in it as well.
grain: [run_id, slo, curve_key, load_kind, load]
columns:
  slo: {type: varchar, description: "The SLO (serving_slo)"}
  target: {type: double, description: "Share of requests that must meet the SLO"}
  total: {type: bigint, description: "Requests; NULL: the evidence has none, or only those of some of the rows"}
  met: {type: bigint, description: "Requests that meet all limits"}
  open: {type: bigint, description: "Requests of which the evidence does not say whether they do"}
  goodput_per_s: {type: double, unit: 1/s, description: "Requests that met the SLO per second: the request throughput times met / completed"}
  requests: {type: bigint, description: "Requests; NULL where total is"}
*/
with counted as (
    select
        curve.run_id,
        curve.curve_key,
        curve.load_kind,
        curve.load,
        slo.slo,
        slo.target,
        counts.total,
        counts.met,
        counts.open,
        curve.request_throughput_per_s * counts.met / nullif(curve.completed_count, 0) as goodput_per_s
    from serving_curve as curve
    -- Lateral: each name of a model is matched once, and not that of each run.
    inner join lateral (
        select
            serving_slo.slo,
            serving_slo.target
        from serving_slo
        where serving_slo.model_pattern is null or regexp_full_match(curve.model, serving_slo.model_pattern, 'i')
    ) as slo on true
    left join serving_slo_count as counts
        on
            counts.run_id = curve.run_id
            and counts.workload_point = curve.workload_point
            and counts.concurrency_point is not distinct from curve.concurrency_point
            and counts.request_rate_per_s is not distinct from curve.request_rate_per_s
            and counts.slo = slo.slo
),

summed as (
    select
        run_id,
        curve_key,
        load_kind,
        load,
        slo,
        target,
        if(count(total) = count(*), sum(total order by total), null)::bigint as total,
        if(count(total) = count(*), sum(met order by met), null)::bigint as met,
        if(count(total) = count(*), sum(open order by open), null)::bigint as open,
        if(count(goodput_per_s) = count(*), avg(goodput_per_s order by goodput_per_s), null) as goodput_per_s
    from counted
    group by
        run_id,
        curve_key,
        load_kind,
        load,
        slo,
        target
)

select
    point.* exclude (
        request_throughput_per_s, output_token_throughput_per_s, output_token_throughput_per_accelerator_per_s,
        total_token_throughput_per_accelerator_per_s, interactivity_p50_tokens_per_s, ttft_p50_ms, ttft_p99_ms, tpot_p50_ms, tpot_p99_ms,
        e2e_p50_ms, e2e_p99_ms, accelerator_power_w, accelerator_energy_per_output_token_j, cost_per_million_output_tokens_usd, requests
    ),
    summed.slo,
    summed.target,
    summed.total,
    summed.met,
    summed.open,
    summed.goodput_per_s,
    summed.total as requests
from summed
inner join serving_point_run as point
    on
        point.run_id = summed.run_id
        and point.curve_key = summed.curve_key
        and point.load_kind is not distinct from summed.load_kind
        and point.load is not distinct from summed.load
