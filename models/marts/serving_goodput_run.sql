/*
description: >
  One row per performance run, load curve, load and SLO for its model: how many requests met the SLO, and how many each second. The
  observations that serving_goodput is a statistic of. A run that has a load more than once is one observation: its requests are
  counted together, and its rates are averaged. Failed runs and copies are in it as well.
grain: [run_id, slo, curve_key, load_kind, load]
columns:
  run_id: {type: varchar, description: "The run"}
  slo: {type: varchar, description: "The SLO (serving_slo)"}
  curve_key: {type: varchar, description: "Digest of all that the points of a curve share (serving_curve)"}
  load_kind: {type: varchar, description: "concurrency or request_rate; NULL: the load is not stated"}
  load: {type: double, description: "The load in the unit of its kind; NULL: not stated"}
  status: {type: varchar, description: "How the run ended"}
  copy_of: {type: varchar, description: "Another run that is the same measurement; NULL: none"}
  model: {type: varchar, description: "The served model"}
  framework: {type: varchar, description: "The serving software"}
  framework_version: {type: varchar, description: "Its version"}
  accelerator: {type: varchar, description: "Accelerator under one name for all spellings, else as written"}
  accelerator_count: {type: bigint, description: "Accelerators, of prefill and decode together"}
  deployment_model: {type: varchar, description: "Parallelism and placement"}
  precision: {type: varchar, description: "Quantisation of the served weights, or else their data type"}
  input_length: {type: bigint, unit: tokens, description: "Input tokens asked for in a request, or their mean"}
  output_length: {type: bigint, unit: tokens, description: "Output tokens asked for in a request, or their mean"}
  target: {type: double, description: "Share of requests that must meet the SLO"}
  total: {type: bigint, description: "Requests; NULL: the evidence has none, or only those of some of the rows"}
  met: {type: bigint, description: "Requests that meet all limits"}
  open: {type: bigint, description: "Requests of which the evidence does not say whether they do"}
  goodput_per_s: {type: double, unit: 1/s, description: "Requests that met the SLO per second: the request throughput times met / completed"}
  requests: {type: bigint, description: "Requests; NULL where total is"}
  error_rate: {type: double, description: "failed / (completed + failed); of several rows, the greatest"}
  is_open_loop: {type: boolean, description: "Whether requests were to be sent at a stated rate (serving_validity defines this and the next columns)"}
  is_closed_loop: {type: boolean, description: "Whether a stated number of requests was to be in flight"}
  is_steady: {type: boolean, description: "Whether there is a steady-state window; of several rows, in all of them"}
  littles_law_residual: {type: double, description: "Request throughput * mean latency / requests to be in flight, minus 1; of several rows, the one furthest from 0"}
  coordinated_omission: {type: double, description: "By which share the p99 is higher counted from when requests were meant to be sent; of several rows, the greatest"}
  send_rate_error: {type: double, description: "Rate at which requests were sent / rate asked for, minus 1; of several rows, the one furthest from 0"}
  is_load_stated: {type: boolean, description: "Whether the evidence states the load"}
  window_effect: {type: double, description: "By which share figures of the whole run differ from those of its steady-state window; of several rows, the greatest"}
  contradiction_count: {type: bigint, description: "Figures of the run's evidence that its own requests contradict"}
  energy_error: {type: double, description: "By which share stated energy contradicts stated power; of several rows, the greatest"}
  unfinished_share: {type: double, description: "Share of the requests that the end of the run cut off; of several rows, the greatest"}
  effective_request_count: {type: double, description: "How many independent requests would tell as much; of several rows, the fewest"}
  output_length_error: {type: double, description: "Mean output tokens of a request / those that were asked for, minus 1; of several rows, the one furthest from 0"}
  cut_stream_share: {type: double, description: "Share of the completed requests whose stream broke; of several rows, the greatest"}
  must_miss_prefix_cache: {type: boolean, description: "Whether prompts should find nothing in the prefix cache; of several rows, in any"}
  prefix_cache_hit_rate: {type: double, description: "Share of the prompt tokens that the server found in its prefix cache; of several rows, the greatest"}
  is_accuracy_shown: {type: boolean, description: "Whether an accuracy run of the same stack succeeded; NULL: none is known"}
  accelerator_count_error: {type: double, description: "By which share the stated accelerators contradict throughput per accelerator; of several rows, the greatest"}
  started_at: {type: timestamptz, unit: UTC, description: "Start of the run"}
  session: {type: varchar, description: "The session of the run (run_session)"}
  configuration: {type: varchar, description: "Digest of the frozen workload document"}
  software: {type: varchar, description: "The image's digest; NULL: not stated"}
  outcome_digest: {type: varchar, description: "Digest of the run's own files: two runs that share it are one execution"}
  grade: {type: varchar, description: "The grade that was declared; NULL: none"}
*/
with counted as (
    select
        curve.run_id,
        curve.curve_key,
        curve.load_kind,
        curve.load,
        serving_slo.slo,
        serving_slo.target,
        counts.total,
        counts.met,
        counts.open,
        curve.request_throughput_per_s * counts.met / nullif(curve.completed_count, 0) as goodput_per_s
    from serving_curve as curve
    inner join serving_slo
        on serving_slo.model_pattern is null or regexp_full_match(curve.model, serving_slo.model_pattern, 'i')
    left join serving_slo_count as counts
        on
            counts.run_id = curve.run_id
            and counts.workload_point = curve.workload_point
            and counts.concurrency_point is not distinct from curve.concurrency_point
            and counts.request_rate_per_s is not distinct from curve.request_rate_per_s
            and counts.slo = serving_slo.slo
),

summed as (
    select
        run_id,
        curve_key,
        load_kind,
        load,
        slo,
        target,
        if(count(total) = count(*), sum(total), null)::bigint as total,
        if(count(total) = count(*), sum(met), null)::bigint as met,
        if(count(total) = count(*), sum(open), null)::bigint as open,
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
    point.run_id,
    summed.slo,
    point.curve_key,
    point.load_kind,
    point.load,
    point.status,
    point.copy_of,
    point.model,
    point.framework,
    point.framework_version,
    point.accelerator,
    point.accelerator_count,
    point.deployment_model,
    point.precision,
    point.input_length,
    point.output_length,
    summed.target,
    summed.total,
    summed.met,
    summed.open,
    summed.goodput_per_s,
    summed.total as requests,
    point.error_rate,
    point.is_open_loop,
    point.is_closed_loop,
    point.is_steady,
    point.littles_law_residual,
    point.coordinated_omission,
    point.send_rate_error,
    point.is_load_stated,
    point.window_effect,
    point.contradiction_count,
    point.energy_error,
    point.unfinished_share,
    point.effective_request_count,
    point.output_length_error,
    point.cut_stream_share,
    point.must_miss_prefix_cache,
    point.prefix_cache_hit_rate,
    point.is_accuracy_shown,
    point.accelerator_count_error,
    point.started_at,
    point.session,
    point.configuration,
    point.software,
    point.outcome_digest,
    point.grade
from summed
inner join serving_point_run as point
    on
        point.run_id = summed.run_id
        and point.curve_key = summed.curve_key
        and point.load_kind is not distinct from summed.load_kind
        and point.load is not distinct from summed.load
