/*
description: >
  Goodput over runs: one row per SLO, curve and load whose evidence has requests. The share is all requests that met every limit of the SLO
  over all requests of the runs; it is NULL, with the reason, if a run has no requests or one of them lacks a time that could decide.
grain: [slo, curve_key, load_kind, load]
claim:
  what: the share of requests that met all limits of an SLO together, and how many did each second, over independent runs at one load
  population: all requests, failed ones too, of performance runs that did not fail, admitted, without conflict, each measurement once
  unit_of_replication: the run, one execution of the load generator
  policy: serving
  observations: serving_goodput_run
  numbers:
    # A share of unequal runs is a ratio of sums. These observations have it as their mean, and its variance as theirs (Cochran, Sampling
    # techniques, 3rd edition, section 6.4).
    share:
      statistic: mean
      of: result.share + (observation.met - result.share * observation.total) * result.run_count / result.total
      when: result.share is not null
    goodput_per_s: {statistic: mean, of: observation.goodput_per_s, when: result.goodput_per_s is not null}
  exclusions:
    not run.has_conflict: it is not settled which of several bundles is the run's evidence
    copy_of is null: the same measurement was filed twice, and is counted once
columns:
  model: {type: varchar, description: "The served model"}
  framework: {type: varchar, description: "The serving software"}
  framework_version: {type: varchar, description: "Its version"}
  accelerator: {type: varchar, description: "Accelerator under one name for all spellings, else as written"}
  accelerator_count: {type: bigint, description: "Accelerators, of prefill and decode together"}
  deployment_model: {type: varchar, description: "Parallelism and placement"}
  precision: {type: varchar, description: "Quantisation of the served weights, or else their data type"}
  input_length: {type: bigint, unit: tokens, description: "Input tokens asked for in a request, or their mean"}
  output_length: {type: bigint, unit: tokens, description: "Output tokens asked for in a request, or their mean"}
  run_count: {type: bigint, description: "Runs"}
  total: {type: bigint, description: "Requests of all runs; NULL: a run has none"}
  met: {type: bigint, description: "Requests that met all limits"}
  share: {type: double, description: "met / total"}
  goodput_per_s: {type: double, unit: 1/s, description: "Requests that met the SLO per second, mean over runs"}
  target: {type: double, description: "Share that the SLO asks for"}
  is_target_met: {type: boolean, description: "Whether share is at least target"}
  reason: {type: varchar, description: "Why share is NULL", tests: [{accepted_values: [requests-missing, time-missing]}]}
*/
with counted as (
    select
        slo,
        curve_key,
        load_kind,
        load,
        min(model) as model,
        min(framework) as framework,
        min(framework_version) as framework_version,
        min(accelerator) as accelerator,
        min(accelerator_count) as accelerator_count,
        min(deployment_model) as deployment_model,
        min(precision) as precision,
        min(input_length) as input_length,
        min(output_length) as output_length,
        count(*) as run_count,
        sum(total)::bigint as total,
        sum(met)::bigint as met,
        avg(goodput_per_s order by goodput_per_s) as goodput_per_s,
        min(target) as target,
        count(goodput_per_s) = count(*) as has_rates,
        case
            when count(total) < count(*) then 'requests-missing'
            when sum(open) > 0 then 'time-missing'
        end as reason
    from serving_goodput_run
    where
        status in ('succeeded', 'unknown')
        and copy_of is null
    group by
        slo,
        curve_key,
        load_kind,
        load
    having count(total) > 0
)

select
    slo,
    curve_key,
    load_kind,
    load,
    model,
    framework,
    framework_version,
    accelerator,
    accelerator_count,
    deployment_model,
    precision,
    input_length,
    output_length,
    run_count,
    if(reason = 'requests-missing', null, total) as total,
    if(reason = 'requests-missing', null, met) as met,
    case when reason is null then met / total end as share,
    case when reason is null and has_rates then goodput_per_s end as goodput_per_s,
    target,
    case when reason is null then met / total end >= target as is_target_met,
    reason
from counted
