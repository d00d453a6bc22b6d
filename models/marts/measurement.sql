/*
description: >
  One row per run and metric: the value, what makes it comparable with other values, and when and in which session it
  was measured. Only performance runs that are admitted, without conflict and not failed have rows. Two rows with the
  same comparable_key are repeats of each other. Two rows with the same series_key differ at most in software and
  measuring script, as the points of a series over time do.
grain: [run_id, indicator, metric, point]
role: measurements
columns:
  run_id: {type: varchar, description: "The run, the unit of replication", tests: [not_null]}
  indicator: {type: varchar, description: "What measured: serving, training, a fabric tool, or the indicator's name", tests: [not_null]}
  metric: {type: varchar, description: "Column of a fact, or key of an indicator's result", tests: [not_null]}
  point: {type: varchar, description: "Which point of the workload: scenario and load, scale, or test; empty where a run has one", tests: [not_null]}
  value: {type: double, description: "The value in its unit; of several tests of the same point in one run, the median", tests: [not_null]}
  unit: {type: varchar, description: "Unit; NULL: dimensionless, or the source states none"}
  better: {type: varchar, description: "Which direction is better: lower, higher, or neither where no definition says", tests: [not_null, {accepted_values: [lower, higher, neither]}]}
  metric_version: {type: varchar, description: "The definitions of metric_definition_dim that apply, with their versions; NULL: none"}
  session: {type: varchar, description: "Scheduler job; else day and testbed; else bundle (staging.run_replicate). The runs of one session share its disturbances", tests: [not_null]}
  started_at: {type: timestamptz, unit: UTC, description: "Start of the run; NULL where the evidence does not say"}
  benchmark_case_id: {type: varchar, description: "What is measured, whoever measured it", tests: [not_null]}
  workload: {type: varchar, description: "Digest of the frozen workload document"}
  parameters: {type: varchar, description: "Parameters of the indicator, or how the model was served (parallel sizes, split of prefill and decode, precision, prefix caching), key=value, sorted"}
  hardware: {type: varchar, description: "Key in hardware_topology_dim"}
  testbed: {type: varchar, description: "Key in cluster_region_dim"}
  node: {type: varchar, description: "The node or nodes that took part; NULL where the evidence does not say"}
  software: {type: varchar, description: "Key in software_version_dim"}
  script: {type: varchar, description: "sha256 of the script that measured"}
  series_key: {type: varchar, description: "Digest of what must be equal in a series over time: all of the above except node, software and script", tests: [not_null]}
  comparable_key: {type: varchar, description: "Digest of the same with software, script and the flags of the server: repeats share it", tests: [not_null]}
*/
-- How a model was served is a parameter of its run. Flags of the server change with its version, so they make runs no repeats of each
-- other, but end no series.
with deployed as (
    select
        run_id,
        min(deployment_model) as deployment_model
    from serving_outcome_fact
    where not regexp_full_match(deployment_model, '((TP|DP|PP|EP)[0-9]+ ?)+') -- which the sizes state
    group by run_id
),

served as (
    select
        configuration.run_id,
        nullif(concat_ws(
            ', ', 'data_parallel_size=' || configuration.data_parallel_size, 'deployment_model=' || deployed.deployment_model,
            'expert_parallel_size=' || configuration.expert_parallel_size,
            'is_prefix_caching_enabled=' || configuration.is_prefix_caching_enabled,
            'pipeline_parallel_size=' || configuration.pipeline_parallel_size, 'precision=' || configuration.precision,
            'tensor_parallel_size=' || configuration.tensor_parallel_size
        ), '') as parameters,
        configuration.server_flags
    from serving_configuration_fact as configuration
    left join deployed
        on deployed.run_id = configuration.run_id
),

parameters as (
    select
        run_id,
        string_agg(key || '=' || coalesce(value_text, 'null'), ', ' order by key) as parameters
    from performance_indicator_fact
    where kind = 'parameter'
    group by run_id
),

script as (
    select
        run_id,
        min(script_sha256) as script
    from performance_indicator_fact
    group by run_id
),

nodes as (
    select
        run_id,
        min(nodes) as nodes
    from fabric_outcome_fact
    group by run_id
),

described as (
    select
        valued.run_id,
        valued.indicator,
        valued.metric,
        valued.point,
        valued.value,
        coalesce(valued.stated_unit, meaning.defined_unit, indicator_unit.unit, meaning.suffix_unit) as unit,
        coalesce(valued.stated_better, meaning.defined_better, indicator_unit.better, meaning.suffix_better, 'neither') as better,
        meaning.metric_version,
        run_replicate.session,
        run.started_at,
        run.benchmark_case_id,
        run.workload_spec_digest as workload,
        coalesce(parameters.parameters, served.parameters) as parameters,
        run.hardware_topology_key as hardware,
        run.cluster_region_key as testbed,
        coalesce(run.node_name, nodes.nodes) as node,
        run.software_version_key as software,
        script.script,
        served.server_flags
    from measured_value as valued
    inner join benchmark_run_fact as run
        on run.run_id = valued.run_id
    inner join run_replicate
        on run_replicate.run_id = valued.run_id
    left join parameters
        on parameters.run_id = valued.run_id
    left join served
        on served.run_id = valued.run_id
    left join script
        on script.run_id = valued.run_id
    left join nodes
        on nodes.run_id = valued.run_id
    left join metric_meaning as meaning
        on meaning.metric = valued.metric
    left join indicator_unit
        on
            indicator_unit.indicator = valued.indicator
            and indicator_unit.key = valued.metric
    where run_replicate.copy_of is null
)

select
    * exclude (server_flags),
    left(sha256(to_json([indicator, metric, point, metric_version, benchmark_case_id, workload, parameters, hardware, testbed])::varchar), 32)
        as series_key,
    left(
        sha256(
            to_json([
                indicator, metric, point, metric_version, benchmark_case_id, workload, parameters, hardware, testbed, software, script, server_flags
            ])::varchar
        ),
        32
    ) as comparable_key
from described
