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
  started_at: {type: timestamptz, unit: UTC, description: "Start of the run"}
  session: {type: varchar, description: "The session of the run (run_session)"}
  configuration: {type: varchar, description: "Digest of the frozen workload document"}
  software: {type: varchar, description: "The image's digest; NULL: not stated"}
  outcome_digest: {type: varchar, description: "Digest of the run's own files: two runs that share it are one execution"}
  grade: {type: varchar, description: "The grade that was declared; NULL: none"}
*/
with counted as (
    select
        curve.*,
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
)

select
    counted.run_id,
    counted.slo,
    counted.curve_key,
    counted.load_kind,
    counted.load,
    counted.status,
    counted.copy_of,
    counted.model,
    counted.framework,
    counted.framework_version,
    counted.accelerator,
    counted.accelerator_count,
    counted.deployment_model,
    counted.precision,
    counted.input_length,
    counted.output_length,
    counted.target,
    if(count(counted.total) = count(*), sum(counted.total), null)::bigint as total,
    if(count(counted.total) = count(*), sum(counted.met), null)::bigint as met,
    if(count(counted.total) = count(*), sum(counted.open), null)::bigint as open,
    if(count(counted.goodput_per_s) = count(*), avg(counted.goodput_per_s order by counted.goodput_per_s), null) as goodput_per_s,
    if(count(counted.total) = count(*), sum(counted.total), null)::bigint as requests,
    max(counted.error_rate) as error_rate,
    counted.started_at,
    counted.session,
    run.workload_spec_digest as configuration,
    software_version_dim.image_digest as software,
    run.outcome_digest,
    run.benchmark_grade as grade
from counted
inner join benchmark_run_fact as run
    on run.run_id = counted.run_id
left join software_version_dim
    on software_version_dim.software_version_key = run.software_version_key
group by all
