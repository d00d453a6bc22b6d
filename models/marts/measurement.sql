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
with serving as (
    select
        run_id,
        'serving' as indicator,
        concat_ws(' ', workload_point, 'concurrency ' || concurrency_point, 'rate ' || request_rate_per_s) as point,
        metric,
        value
    from serving_outcome_fact
    unpivot (value for metric in (
        ttft_mean_ms, ttft_p50_ms, ttft_p90_ms, ttft_p95_ms, ttft_p99_ms,
        tpot_mean_ms, tpot_p50_ms, tpot_p90_ms, tpot_p95_ms, tpot_p99_ms,
        itl_mean_ms, itl_p50_ms, itl_p90_ms, itl_p95_ms, itl_p99_ms,
        e2e_mean_ms, e2e_p50_ms, e2e_p90_ms, e2e_p95_ms, e2e_p99_ms,
        jitter_ms, early_stopping_latency_ms, queueing_delay_ms, error_rate,
        request_throughput_per_s, sample_throughput_per_s, output_token_throughput_per_s, total_token_throughput_per_s,
        speculative_acceptance_pct, speculative_acceptance_length, audio_throughput_s_per_s, real_time_factor_mean, power_w, energy_per_query_mj,
        accelerator_power_w, accelerator_energy_per_output_token_j
    ))
),

training as (
    select
        run_id,
        'training' as indicator,
        concat_ws(' ', phase, 'nodes ' || node_count, 'accelerators ' || accelerator_count) as point,
        metric,
        value
    from training_outcome_fact
    unpivot (value for metric in (
        duration_s, time_to_train_s, step_time_mean_s, step_time_p50_s, step_time_p95_s, step_time_p99_s,
        samples_per_s, tokens_per_s, mfu_pct, quality
    ))
),

-- A rank repeats its test's figures, and the sizes of a message are averaged in those of their test.
fabric as (
    select
        run_id,
        tool as indicator,
        concat_ws(
            ' ', coalesce(test, tool), case when scope <> 'test' then scope end, scope_name, placement, direction,
            'message ' || message_bytes, 'nodes ' || node_count, 'ranks ' || rank_count, latency_kind
        ) as point,
        metric,
        value
    from fabric_outcome_fact
    unpivot (value for metric in (
        avg_bus_bandwidth_gb_per_s, peak_bus_bandwidth_gb_per_s, bandwidth_gb_per_s, rank_bandwidth_gb_per_s, message_rate_per_s,
        latency_mean_us, latency_p50_us, latency_p99_us, io_per_s, gflop_per_s, temperature_c, power_w
    ))
    where scope <> 'rank'
),

-- How a model was served is a parameter of its run. Flags of the server change with its version, so they make runs no repeats of each
-- other, but end no series.
deployed as (
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

measured as (
    select *
    from serving
    union all by name
    select * from training
    union all by name
    select * from fabric
    union all by name
    select
        run_id,
        indicator,
        coalesce(component, '') as point,
        key as metric,
        value_number as value,
        unit as stated_unit,
        better as stated_better
    from performance_indicator_fact
    where
        kind in ('result', 'score')
        and value_number is not null
),

valued as (
    select
        run_id,
        indicator,
        metric,
        point,
        median(value) as value,
        min(stated_unit) as stated_unit,
        min(stated_better) as stated_better
    from measured
    where isfinite(value)
    group by
        run_id,
        indicator,
        metric,
        point
),

defined as (
    select
        pattern,
        max(version) as version,
        arg_max(unit, version) as unit,
        arg_max(better, version) as better
    from (
        select
            unnest(string_split(metric, ', ')) as pattern,
            version,
            unit,
            better
        from metric_definition_dim
    )
    group by pattern
),

named as (
    select distinct metric
    from valued
),

definition as (
    select
        named.metric,
        string_agg(defined.pattern || ' v' || defined.version, ', ' order by defined.pattern) as metric_version,
        min(defined.unit) as unit,
        case when count(distinct defined.better) = 1 then min(defined.better) end as better
    from named
    inner join defined
        on named.metric glob defined.pattern
    group by named.metric
),

suffixed as (
    select
        named.metric,
        arg_max(suffix.unit, length(suffix.suffix)) as unit,
        arg_max(suffix.better, length(suffix.suffix)) as better
    from named
    inner join metric_suffix as suffix
        on
            named.metric = suffix.suffix
            or (suffix.suffix[1] = '_' and ends_with('_' || named.metric, suffix.suffix))
    group by named.metric
),

described as (
    select
        valued.run_id,
        valued.indicator,
        valued.metric,
        valued.point,
        valued.value,
        coalesce(valued.stated_unit, definition.unit, indicator_unit.unit, suffixed.unit) as unit,
        coalesce(valued.stated_better, definition.better, indicator_unit.better, suffixed.better, 'neither') as better,
        definition.metric_version,
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
    from valued
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
    left join definition
        on definition.metric = valued.metric
    left join indicator_unit
        on
            indicator_unit.indicator = valued.indicator
            and indicator_unit.key = valued.metric
    left join suffixed
        on suffixed.metric = valued.metric
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
