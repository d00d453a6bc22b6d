/*
description: >
  The frontier of output tokens per second and accelerator against the output tokens per second that one user sees: one row per point, a
  curve at a load, that no other point of the same model, lengths and precision beats. A point is the mean of the runs that have both
  figures. Another point beats it if it is at least as good on both axes and better on one; equal points are on the frontier together.
grain: [curve_key, load_kind, load]
claim:
  what: the two figures of a way of serving at one load that no other measured one of its scope beats, each the mean over independent runs
  population: performance runs of serving benchmarks that did not fail, admitted, without conflict, each measurement once
  unit_of_replication: the run, one execution of the load generator
  policy: serving
  observations: serving_point_run
  numbers:
    output_token_throughput_per_accelerator_per_s: {statistic: mean, of: observation.output_token_throughput_per_accelerator_per_s}
    interactivity_p50_tokens_per_s: {statistic: mean, of: observation.interactivity_p50_tokens_per_s, percentile: 0.5}
  exclusions:
    not run.has_conflict: it is not settled which of several bundles is the run's evidence
    copy_of is null: the same measurement was filed twice, and is counted once
    not is_beaten: another point of the scope is at least as good on both axes, and better on one
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
  output_token_throughput_per_accelerator_per_s: {type: double, unit: tokens/s, description: "Output tokens per second / accelerators; mean over runs"}
  interactivity_p50_tokens_per_s: {type: double, unit: tokens/s, description: "Output tokens per second that one user sees after the first token, p50; mean over runs"}
*/
with point as (
    select
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
        avg(interactivity_p50_tokens_per_s order by interactivity_p50_tokens_per_s) as interactivity_p50_tokens_per_s,
        avg(output_token_throughput_per_accelerator_per_s order by output_token_throughput_per_accelerator_per_s) as output_token_throughput_per_accelerator_per_s
    from serving_point_run
    where
        status in ('succeeded', 'unknown')
        and copy_of is null
        and isfinite(interactivity_p50_tokens_per_s)
        and isfinite(output_token_throughput_per_accelerator_per_s)
    group by
        curve_key,
        load_kind,
        load
),

judged as (
    select
        point.*,
        exists (
            from point as other
            where
                other.model is not distinct from point.model
                and other.input_length is not distinct from point.input_length
                and other.output_length is not distinct from point.output_length
                and other.precision is not distinct from point.precision
                and other.interactivity_p50_tokens_per_s >= point.interactivity_p50_tokens_per_s
                and other.output_token_throughput_per_accelerator_per_s >= point.output_token_throughput_per_accelerator_per_s
                and (
                    other.interactivity_p50_tokens_per_s > point.interactivity_p50_tokens_per_s
                    or other.output_token_throughput_per_accelerator_per_s > point.output_token_throughput_per_accelerator_per_s
                )
        ) as is_beaten
    from point
)

select * exclude (is_beaten)
from judged
where not is_beaten
