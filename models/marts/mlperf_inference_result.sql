/*
description: >
  One row per result of an MLPerf Inference submission: its performance by the round's rules and the unit that value
  truly has. An edge system's owed scenario that was not run is inferred from its SingleStream run, as the rules allow
  (is_inferred). Which figure is the result, by scenario: Offline, Server and Interactive: tokens per second where the
  load generator counts or infers tokens (a Server result before v4.1: samples), else samples; SingleStream: the
  early-stopping p90 of the query, or its p90 where early stopping was on token latencies; MultiStream: the
  early-stopping p99.
grain: [run_id, scenario]
columns:
  run_id: {type: varchar, description: "The run whose logs the result comes from", tests: [not_null]}
  round: {type: varchar, description: "Round"}
  division: {type: varchar, description: "Division", tests: [not_null]}
  submitter: {type: varchar, description: "Submitter", tests: [not_null]}
  platform: {type: varchar, description: "Platform folder", tests: [not_null]}
  benchmark: {type: varchar, description: "Benchmark folder", tests: [not_null]}
  model: {type: varchar, description: "Official model name", tests: [not_null]}
  scenario: {type: varchar, description: "Scenario", tests: [not_null]}
  location: {type: varchar, description: "The scenario's folder", tests: [not_null]}
  availability: {type: varchar, description: "available, preview or rdi"}
  suite: {type: varchar, description: "datacenter, edge or both"}
  system_name: {type: varchar, description: "System name"}
  accelerator: {type: varchar, description: "Accelerator model"}
  accelerators_per_node: {type: bigint, description: "Accelerators per node"}
  node_count: {type: bigint, description: "Nodes"}
  precision: {type: varchar, description: "Weight data types as written"}
  is_inferred: {type: boolean, description: "Whether the result is inferred from SingleStream", tests: [not_null]}
  performance: {type: double, description: "Performance as the logs state it, in performance_unit"}
  performance_unit: {type: varchar, description: "The true unit", tests: [{accepted_values: [Tokens/s, Samples/s, Queries/s, Latency (ms)]}]}
  power: {type: double, description: "Mean power or energy per query in the measured window, in power_unit"}
  power_unit: {type: varchar, description: "Watts or millijoules", tests: [{accepted_values: [Watts, millijoules]}]}
  power_state: {type: varchar, description: "measured, missing (power was measured, its log is not here) or NULL: no power submission"}
  status: {type: varchar, description: "succeeded, invalid or unknown", tests: [not_null]}
  state: {type: varchar, description: "Whether the run counts: admitted, retracted or superseded", tests: [not_null]}
  has_conflict: {type: boolean, description: "Whether bundles disagree on the run", tests: [not_null]}
*/
with logged as (
    select
        submission.*,
        run.status,
        run.state,
        run.has_conflict,
        outcome.sample_throughput_per_s,
        outcome.output_token_throughput_per_s,
        outcome.early_stopping_latency_ms,
        outcome.e2e_mean_ms,
        outcome.e2e_p90_ms,
        outcome.power_w,
        outcome.energy_per_query_mj
    from mlperf_inference_submission as submission
    inner join benchmark_run_fact as run
        on run.run_id = submission.run_id
    left join serving_outcome_fact as outcome
        on outcome.run_id = submission.run_id
),

direct as (
    select
        *,
        false as is_inferred,
        case
            when scenario = 'SingleStream' and has_token_early_stopping then e2e_p90_ms
            when scenario in ('SingleStream', 'MultiStream') then early_stopping_latency_ms
            when scenario = 'Server' and round in ('v3.0', 'v3.1', 'v4.0') then sample_throughput_per_s
            when has_token_throughput then output_token_throughput_per_s
            else sample_throughput_per_s
        end as performance,
        case
            when scenario in ('SingleStream', 'MultiStream') then 'Latency (ms)'
            when scenario = 'Server' and round in ('v3.0', 'v3.1', 'v4.0') then 'Queries/s'
            when has_token_throughput then 'Tokens/s'
            when scenario = 'Offline' then 'Samples/s'
            when scenario in ('Server', 'Interactive') then 'Queries/s'
        end as performance_unit
    from logged
),

inferred as (
    select
        single.* exclude (scenario),
        owed.scenario,
        true as is_inferred,
        case
            when owed.scenario = 'MultiStream' then single.early_stopping_p99_ms * 8
            else 1e3 / single.e2e_mean_ms
        end as performance,
        case when owed.scenario = 'MultiStream' then 'Latency (ms)' else 'Samples/s' end as performance_unit
    from logged as single
    inner join mlperf_inference_edge_scenario as owed
        on owed.model = single.model
    left join logged as run_itself
        on
            run_itself.round is not distinct from single.round
            and run_itself.division = single.division
            and run_itself.submitter = single.submitter
            and run_itself.platform = single.platform
            and run_itself.benchmark = single.benchmark
            and run_itself.scenario = owed.scenario
    where
        single.scenario = 'SingleStream'
        and single.suite like '%edge%'
        and run_itself.run_id is null
),

result as (
    select * from direct
    union all by name
    select * from inferred
)

select
    run_id,
    round,
    division,
    submitter,
    platform,
    benchmark,
    model,
    scenario,
    location,
    availability,
    suite,
    system_name,
    accelerator,
    accelerators_per_node,
    node_count,
    precision,
    is_inferred,
    performance,
    case when performance is not null then performance_unit end as performance_unit,
    case
        when is_inferred then null
        when scenario in ('SingleStream', 'MultiStream') then energy_per_query_mj
        else power_w
    end as power,
    case
        when is_inferred or power_w is null then null
        when scenario in ('SingleStream', 'MultiStream') then 'millijoules'
        else 'Watts'
    end as power_unit,
    case
        when is_inferred then null
        when power_w is not null then 'measured'
        when has_ranging_run then 'missing'
    end as power_state,
    status,
    state,
    has_conflict
from result
