/*
description: >
  The official MLPerf Inference and MLPerf Automotive results tables, recomputed from the logs: one row per submitted
  run and scenario. Throughput has six significant digits, as published; a latency is exact. performance_as_logged is
  not rounded: it has the two decimals of a summary whose run has no detail log (is_of_summary). performance_unit is the unit that the value
  really has. official_label is what the official table prints beside it, or NULL for a round whose labels are not
  known.
grain: [run_id, scenario]
claim:
  what: the performance and power of one submitted run, by the rules of its round
  population: run_1 of every scenario of every submission in the warehouse, valid or not, admitted, without conflict
  unit_of_replication: the submitted run; MLPerf Inference publishes one run a scenario
  policy: mlperf-inference
  observations: mlperf_inference_result
  numbers:
    performance_result: {statistic: value, of: observation.performance}
    performance_as_logged: {statistic: value, of: observation.performance}
    power_result: {statistic: value, of: observation.power}
  accounted_by: [cadence, intent, cluster_region_key, benchmark_case_id]
  exclusions:
    not result.has_conflict: it is not settled which of several bundles is the run's evidence
columns:
  benchmark_suite: {type: varchar, description: "Whose rules hold: inference or automotive"}
  round: {type: varchar, description: "Round; NULL if the path does not state it"}
  benchmark: {type: varchar, description: "Benchmark folder (UsedModel)"}
  accelerator: {type: varchar, description: "Accelerator model; NULL: a system without one"}
  performance_result: {type: double, description: "Performance, in performance_unit"}
  performance_as_logged: {type: double, description: "Performance as its log states it, not rounded, in performance_unit"}
  is_of_summary: {type: boolean, description: "Whether that log is the summary, which states a throughput with two decimals"}
  performance_unit: {type: varchar, description: "The unit the value truly has"}
  official_label: {type: varchar, description: "The unit the official table prints"}
  power_result: {type: double, description: "Mean power or energy per query, in power_unit"}
  power_state: {type: varchar, description: "measured, missing, or NULL: no power submission"}
  validity: {type: varchar, description: "VALID, INVALID, or NULL: the logs do not say"}
  location: {type: varchar, description: "Folder of the logs"}
*/
with known_round as (
    select distinct round
    from mlperf_inference_token_label
)

select
    result.run_id,
    result.scenario,
    result.benchmark_suite,
    result.round,
    result.division,
    result.submitter,
    result.platform,
    result.benchmark,
    result.availability,
    result.suite,
    result.system_name as system,
    result.accelerator,
    result.accelerators_per_node,
    result.node_count,
    result.model,
    result.precision,
    case
        when result.performance_unit = 'Latency (ms)' or result.performance = 0 then result.performance
        else round(result.performance, 5 - floor(log10(abs(result.performance)))::integer)
    end as performance_result,
    result.performance as performance_as_logged,
    result.is_of_summary,
    result.performance_unit,
    case
        when known_round.round is null then null
        when token_label.model is not null then 'Tokens/s'
        when result.scenario = 'Offline' then 'Samples/s'
        when result.scenario in ('Server', 'Interactive') then 'Queries/s'
        else 'Latency (ms)'
    end as official_label,
    result.power as power_result,
    result.power_unit,
    result.power_state,
    case result.status when 'succeeded' then 'VALID' when 'invalid' then 'INVALID' end as validity,
    result.is_inferred,
    result.location
from mlperf_inference_result as result
left join known_round
    on
        known_round.round = result.round
        and result.benchmark_suite = 'inference'
left join mlperf_inference_token_label as token_label
    on
        token_label.round = result.round
        and token_label.model = result.model
        and token_label.scenario = result.scenario
where
    result.state = 'admitted'
    and not result.has_conflict
