/*
description: >
  One row per performance run of a submission (run_1 of each scenario): the submitter, the names of benchmark and
  scenario, and the system, from the bundle that the run is read from.
grain: [run_id]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, unique]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  benchmark_suite: {type: varchar, description: "Whose rules hold: inference or automotive, as the evidence itself says", tests: [not_null]}
  round: {type: varchar, description: "Round, e.g. v5.1; NULL if the path does not state it"}
  division: {type: varchar, description: "closed, open or network", tests: [not_null]}
  submitter: {type: varchar, description: "Submitter, as the path has it", tests: [not_null]}
  platform: {type: varchar, description: "Platform folder", tests: [not_null]}
  benchmark: {type: varchar, description: "Benchmark folder (UsedModel in the official table)", tests: [not_null]}
  model: {type: varchar, description: "Official model name", tests: [not_null]}
  scenario: {type: varchar, description: "Scenario, as the folder has it", tests: [not_null]}
  run_scenario: {type: varchar, description: "Scenario of the run in that folder, as its log has it: another one where the result is inferred", tests: [not_null]}
  location: {type: varchar, description: "The scenario's folder (Location in the official table)", tests: [not_null]}
  availability: {type: varchar, description: "available, preview or rdi"}
  accelerator: {type: varchar, description: "Accelerator model; NULL for a system without one"}
  accelerators_per_node: {type: bigint, description: "Accelerators per node"}
  node_count: {type: bigint, description: "Nodes"}
  precision: {type: varchar, description: "Weight data types as written"}
  has_token_early_stopping: {type: boolean, description: "Whether early stopping was on token latencies"}
  uses_early_stopping: {type: boolean, description: "Whether the round's results are early-stopping estimates: from v2.0 on, and in MLPerf Automotive; without a round, whether the logs mention early stopping"}
  refusal: {type: varchar, description: "The code of the issue for which the submission checker takes no result from the logs; NULL: it takes one"}
  has_ranging_run: {type: boolean, description: "Whether there is a ranging run, which means that power was measured", tests: [not_null]}
*/
with ranging as (
    select distinct supports_run_id
    from mlperf_inference_run
    where mode = 'ranging'
)

select
    run.run_id,
    run.artifact_manifest_digest,
    run.benchmark_suite,
    run.round,
    run.division,
    run.submitter,
    run.platform,
    run.benchmark,
    coalesce(official.model, run.benchmark) as model,
    run.scenario,
    -- Server is how the load generator logs Interactive.
    case
        when run.scenario = 'Interactive' and run.logged_scenario = 'Server' then run.scenario
        else coalesce(run.logged_scenario, run.scenario)
    end as run_scenario,
    run.division || '/' || run.submitter || '/results/' || run.platform || '/' || run.benchmark || '/' || run.scenario_folder as location,
    system.status as availability,
    system.system_type as suite,
    system.system_name,
    system.accelerator_model_name as accelerator,
    system.accelerators_per_node,
    system.number_of_nodes as node_count,
    system.weight_data_types as precision,
    metric.has_token_throughput,
    metric.has_token_early_stopping,
    metric.has_detail_throughput,
    metric.early_stopping_p99_ms,
    metric.e2e_p99_9_ms,
    case
        when run.benchmark_suite = 'automotive' then true
        when run.round in ('v0.5', 'v0.7', 'v1.0', 'v1.1') then false
        when run.round is not null then true
        else metric.has_early_stopping
    end as uses_early_stopping,
    metric.scheduled_sample_throughput_per_s,
    metric.single_stream_qps,
    metric.samples_per_query,
    log.refusal,
    ranging.supports_run_id is not null as has_ranging_run
from mlperf_inference_run as run
inner join run_bundle
    on
        run_bundle.run_id = run.run_id
        and run_bundle.artifact_manifest_digest = run.artifact_manifest_digest
inner join mlperf_inference_log_source as log
    on
        log.run_id = run.run_id
        and log.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_inference_official_model as official
    on official.benchmark = lower(run.benchmark)
left join mlperf_inference_system as system
    on system.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_inference_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
left join ranging
    on ranging.supports_run_id = run.run_id
where
    run.mode = 'performance'
    and run.run_name = 'run_1'
