/*
description: >
  One row per result of an MLPerf Inference submission: its performance by the rules of the round, and the unit that
  the value really has. The scenario decides which figure is the result. Offline, Server and Interactive: tokens per
  second if the load generator counts or infers tokens, else samples per second (for Server before v4.1: completed
  samples of the LLM, scheduled samples of all other models). SingleStream: the early-stopping p90 of the query, or
  its plain p90 if early stopping was on token latencies. MultiStream: the early-stopping p99. Before v2.0: the p90 of
  SingleStream, and the streams of MultiStream. An edge system may infer a result from a run of another scenario
  (is_inferred): MultiStream from SingleStream is 8 times the early-stopping p99 (before v2.0: the p99); Offline from
  SingleStream is its queries per second; Offline from MultiStream is samples_per_query over the mean latency of a
  query. The log of that run is in the folder of the inferred scenario. If a required scenario has no folder, the run
  of the SingleStream folder is taken or, for Offline, that of the MultiStream folder if there is one. Nothing else
  may be inferred, and performance is NULL then. MLPerf Automotive has rules of its own: SingleStream is the
  early-stopping p99.9, ConstantStream the p99.9, and nothing is inferred. Performance is also NULL if the logs state a
  result twice with different values, contain errors of the load generator, or were written in accuracy mode. Source: MLCommons' submission
  checker and preprocess_submission.
grain: [run_id, scenario]
columns:
  run_id: {type: varchar, description: "The run whose logs the result comes from", tests: [not_null]}
  benchmark_suite: {tests: [not_null]}
  division: {tests: [not_null]}
  submitter: {tests: [not_null]}
  platform: {tests: [not_null]}
  benchmark: {tests: [not_null]}
  model: {tests: [not_null]}
  scenario: {type: varchar, description: "Scenario", tests: [not_null]}
  location: {tests: [not_null]}
  is_inferred: {type: boolean, description: "Whether the result is inferred from a run of another scenario; false where there is no result", tests: [not_null]}
  performance: {type: double, description: "Performance as the logs state it, in performance_unit"}
  is_of_summary: {type: boolean, description: "Whether the throughput is the summary's, which rounds as it states: there is no detail log that states one", tests: [not_null]}
  performance_unit: {type: varchar, description: "The true unit", tests: [{accepted_values: [Tokens/s, Samples/s, Queries/s, Latency (ms), Streams]}]}
  power: {type: double, description: "Mean power or energy per query in the measured window, in power_unit"}
  power_unit: {type: varchar, description: "Watts or millijoules", tests: [{accepted_values: [Watts, millijoules]}]}
  power_state: {type: varchar, description: "measured, missing (power was measured, but its log is not in the bundle) or NULL: no power submission"}
  status: {type: varchar, description: "succeeded, invalid or unknown", tests: [not_null]}
  state: {tests: [not_null]}
  has_conflict: {tests: [not_null]}
*/
with logged as (
    select
        submission.*,
        conformance.* exclude (run_id),
        run.status,
        run.state,
        run.has_conflict,
        outcome.sample_throughput_per_s,
        outcome.output_token_throughput_per_s,
        outcome.early_stopping_latency_ms,
        outcome.e2e_mean_ms,
        outcome.e2e_p90_ms,
        outcome.e2e_p99_ms,
        outcome.power_w,
        outcome.energy_per_query_mj,
        coalesce(submission.round in ('v0.5', 'v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0', 'v3.1', 'v4.0'), false)
            as has_old_server_result
    from mlperf_inference_submission as submission
    inner join benchmark_run_fact as run
        on run.run_id = submission.run_id
    left join mlperf_inference_conformance as conformance
        on conformance.run_id = submission.run_id
    left join serving_outcome_fact as outcome
        on outcome.run_id = submission.run_id
),

owed as (
    select
        run.* exclude (scenario),
        owed.scenario
    from logged as run
    inner join mlperf_inference_edge_scenario as owed
        on owed.model = run.model
    left join logged as in_its_folder
        on
            in_its_folder.round is not distinct from run.round
            and in_its_folder.division = run.division
            and in_its_folder.submitter = run.submitter
            and in_its_folder.platform = run.platform
            and in_its_folder.benchmark = run.benchmark
            and in_its_folder.scenario = owed.scenario
    left join logged as better
        on
            better.round is not distinct from run.round
            and better.division = run.division
            and better.submitter = run.submitter
            and better.platform = run.platform
            and better.benchmark = run.benchmark
            and better.scenario = 'MultiStream'
            and better.run_scenario = 'MultiStream'
            and better.uses_early_stopping
            and owed.scenario = 'Offline'
            and run.scenario = 'SingleStream'
    where
        run.scenario in ('SingleStream', 'MultiStream')
        and run.run_scenario = run.scenario
        and run.scenario <> owed.scenario
        and lower(run.suite) like '%edge%'
        -- Up to v1.1 only Offline was owed, and MultiStream counted streams.
        and (run.uses_early_stopping or (run.scenario = 'SingleStream' and owed.scenario = 'Offline'))
        and in_its_folder.run_id is null
        and better.run_id is null
),

stated as (
    select
        *,
        run_scenario <> scenario as is_of_another
    from logged
    union all by name
    select
        *,
        true as is_of_another
    from owed
),

result as (
    select
        *,
        case
            when refusal is not null then null
            when benchmark_suite = 'automotive' and is_of_another then null
            when benchmark_suite = 'automotive' and scenario = 'SingleStream' then early_stopping_latency_ms
            when benchmark_suite = 'automotive' and scenario = 'ConstantStream' then e2e_p99_9_ms
            when benchmark_suite = 'automotive' then null
            when is_of_another and coalesce(lower(suite), '') not like '%edge%' then null
            when is_of_another and run_scenario = 'SingleStream' and scenario = 'MultiStream' and has_token_early_stopping then null
            when is_of_another and run_scenario = 'SingleStream' and scenario = 'MultiStream' and uses_early_stopping
                then early_stopping_p99_ms * 8
            when is_of_another and run_scenario = 'SingleStream' and scenario = 'MultiStream' then e2e_p99_ms * 8
            when is_of_another and run_scenario = 'SingleStream' and scenario = 'Offline'
                then coalesce(single_stream_qps, 1e3 / nullif(e2e_mean_ms, 0))
            when is_of_another and run_scenario = 'MultiStream' and scenario = 'Offline' and uses_early_stopping
                then samples_per_query * 1e3 / nullif(e2e_mean_ms, 0)
            when is_of_another then null
            when scenario = 'SingleStream' and (has_token_early_stopping or not uses_early_stopping) then e2e_p90_ms
            when scenario = 'MultiStream' and not uses_early_stopping then samples_per_query
            when scenario in ('SingleStream', 'MultiStream') then early_stopping_latency_ms
            when scenario = 'Server' and has_old_server_result and not has_token_throughput then scheduled_sample_throughput_per_s
            when scenario = 'Server' and has_old_server_result then sample_throughput_per_s
            when has_token_throughput then output_token_throughput_per_s
            else sample_throughput_per_s
        end as performance,
        case
            when scenario = 'MultiStream' and not is_of_another and not uses_early_stopping then 'Streams'
            when scenario in ('SingleStream', 'MultiStream', 'ConstantStream') then 'Latency (ms)'
            when scenario = 'Server' and has_old_server_result then 'Queries/s'
            when has_token_throughput and not is_of_another then 'Tokens/s'
            when scenario = 'Offline' then 'Samples/s'
            when scenario in ('Server', 'Interactive') then 'Queries/s'
        end as performance_unit
    from stated
),

-- The rules on power ask for the energy of 8 samples where MultiStream is inferred.
powered as (
    select
        *,
        case
            when scenario = 'MultiStream' and is_of_another then energy_per_query_mj * 8
            when scenario in ('SingleStream', 'MultiStream') then energy_per_query_mj
            else power_w
        end as power
    from result
)

select
    run_id,
    benchmark_suite,
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
    is_of_another and performance is not null as is_inferred,
    performance,
    not is_of_another and not coalesce(has_detail_throughput, false) as is_of_summary,
    case when performance is not null then performance_unit end as performance_unit,
    power,
    case
        when power is null then null
        when scenario in ('SingleStream', 'MultiStream') then 'millijoules'
        else 'Watts'
    end as power_unit,
    case
        when power is not null then 'measured'
        when has_ranging_run then 'missing'
    end as power_state,
    status,
    state,
    has_conflict,
    asks_for_accuracy,
    accuracy_ratio,
    has_latency_limit,
    latency_ratio,
    duration_ratio,
    asks_for_samples,
    sample_ratio,
    performance_sample_ratio,
    missing_file_count,
    missing_other_file_count,
    is_power_submission,
    missing_power_file_count
from powered
