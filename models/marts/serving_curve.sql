/*
description: >
  Load curves of served models: one row per performance run, workload point and load of a serving benchmark. Rows with the same
  curve_key differ only in the load that was driven: same workload, model, hardware, software and way of serving. Rows of one curve with
  the same load are repeats. Failed runs have rows, and so have runs that state a measurement of another run once more (copy_of).
  Runs that do not count (retracted, superseded, in conflict) have none.
grain: [run_id, workload_point, concurrency_point, request_rate_per_s]
role: load_points
columns:
  run_id: {type: varchar, description: "The run, the unit of replication", tests: [not_null]}
  workload_point: {tests: [not_null]}
  curve_key: {type: varchar, description: "Digest of all that the points of a curve share", tests: [not_null]}
  load_kind: {type: varchar, description: "concurrency, or request_rate, which may have a limit of requests in flight beside it (then part of curve_key); NULL: the load is not stated", tests: [{accepted_values: [concurrency, request_rate]}]}
  load: {type: double, description: "The load in the unit of its kind: requests in flight, or requests per second; NULL: not stated"}
  load_rank: {type: bigint, description: "Place of the load in its curve, from 1, the lightest first; repeats share it; NULL: not stated"}
  run_rank: {type: bigint, description: "Place of the run in the order in which those of the curve started, from 1; NULL: its start is not known"}
  status: {tests: [not_null]}
  copy_of: {type: varchar, description: "Another run that is the same measurement (staging.run_replicate); NULL: none"}
  session: {type: varchar, description: "The session of the run (run_session)", tests: [not_null]}
  model: {type: varchar, description: "The served model"}
  framework: {type: varchar, description: "The serving software"}
  accelerator: {type: varchar, description: "Accelerator under one name for all spellings, else as written"}
  accelerator_count: {type: bigint, description: "Accelerators, of prefill and decode together"}
  output_token_throughput_per_accelerator_per_s: {type: double, unit: tokens/s, description: "Output tokens per second / accelerators"}
  total_token_throughput_per_accelerator_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second / accelerators"}
  interactivity_p50_tokens_per_s: {type: double, unit: tokens/s, description: "Output tokens per second that one user sees after the first token: 1000 / tpot_p50_ms"}
  accelerator_count_error: {type: double, description: "By which share the stated accelerators differ from throughput / throughput per accelerator; NULL: not both are stated"}
  price_age_days: {type: bigint, description: "Days from the first day on which the run's price applies to the run; NULL: no price, or no start"}
  energy_error: {type: double, description: "By which share stated energy per output token * throughput differs from the stated power of the accelerators; NULL: not both are stated"}
  is_accuracy_shown: {type: boolean, description: "Whether an accuracy run of the same model, precision, serving software and accelerators succeeded; NULL: none is known"}
*/
with point as (
    select
        outcome.*,
        run.status,
        run.started_at,
        run.software_version_key,
        run.hardware_topology_key,
        run.benchmark_case_id,
        workload.model,
        json_merge_patch(workload.workload_document, load_key.patch)::varchar as workload_but_load,
        case
            when outcome.request_rate_per_s is not null and isfinite(outcome.request_rate_per_s) then 'request_rate'
            when outcome.concurrency_point is not null then 'concurrency'
        end as load_kind
    from serving_outcome_fact as outcome
    inner join benchmark_run_fact as run
        on run.run_id = outcome.run_id
    left join workload_dim as workload
        on workload.workload_spec_digest = run.workload_spec_digest
    cross join serving_load_key as load_key
    where
        run.mode = 'performance'
        and run.family <> 'mlperf_inference'
        and run.state = 'admitted'
        and not run.has_conflict
),

keyed as (
    select
        point.*,
        if(point.load_kind = 'request_rate', point.request_rate_per_s, point.concurrency_point::double) as load,
        configuration.precision,
        configuration.input_length,
        configuration.output_length,
        left(
            sha256(
                to_json([
                    point.load_kind,
                    point.workload_but_load,
                    point.hardware_topology_key,
                    point.software_version_key,
                    point.deployment_model,
                    configuration.tensor_parallel_size::varchar,
                    configuration.pipeline_parallel_size::varchar,
                    configuration.expert_parallel_size::varchar,
                    configuration.data_parallel_size::varchar,
                    configuration.precision,
                    configuration.is_prefix_caching_enabled::varchar,
                    configuration.server_flags,
                    configuration.input_length::varchar,
                    configuration.output_length::varchar,
                    if(point.load_kind = 'request_rate', point.concurrency_point::varchar, null)
                ])::varchar
            ),
            32
        ) as curve_key
    from point
    left join serving_configuration_fact as configuration
        on configuration.run_id = point.run_id
)
,

accuracy as (
    select
        workload.model,
        configuration.precision,
        software.framework,
        software.framework_version,
        coalesce(hardware.accelerator_name, hardware.gpu_model) as accelerator,
        hardware.gpu_count as accelerator_count,
        count(*) as run_count
    from benchmark_run_fact as run
    inner join workload_dim as workload
        on workload.workload_spec_digest = run.workload_spec_digest
    inner join software_version_dim as software
        on software.software_version_key = run.software_version_key
    inner join hardware_topology_dim as hardware
        on hardware.hardware_topology_key = run.hardware_topology_key
    left join serving_configuration_fact as configuration
        on configuration.run_id = run.run_id
    where
        run.mode = 'accuracy'
        and run.status = 'succeeded'
        and run.state = 'admitted'
        and not run.has_conflict
    group by all
)

select
    keyed.run_id,
    keyed.workload_point,
    keyed.concurrency_point,
    keyed.request_rate_per_s,
    keyed.curve_key,
    keyed.load_kind,
    keyed.load,
    if(keyed.load is null, null, dense_rank() over (partition by keyed.curve_key order by keyed.load nulls last)) as load_rank,
    if(keyed.started_at is null, null, dense_rank() over (partition by keyed.curve_key order by keyed.started_at nulls last)) as run_rank,
    keyed.status,
    run_replicate.copy_of,
    run_session.session,
    keyed.started_at,
    keyed.model,
    software.framework,
    software.framework_version,
    coalesce(hardware.accelerator_name, hardware.gpu_model) as accelerator,
    hardware.gpu_count as accelerator_count,
    keyed.deployment_model,
    keyed.precision,
    keyed.input_length,
    keyed.output_length,
    keyed.completed_count,
    keyed.failed_count,
    keyed.error_rate,
    keyed.request_throughput_per_s,
    keyed.output_token_throughput_per_s,
    keyed.total_token_throughput_per_s,
    keyed.output_token_throughput_per_s / nullif(hardware.gpu_count, 0) as output_token_throughput_per_accelerator_per_s,
    keyed.total_token_throughput_per_s / nullif(hardware.gpu_count, 0) as total_token_throughput_per_accelerator_per_s,
    1000 / nullif(keyed.tpot_p50_ms, 0) as interactivity_p50_tokens_per_s,
    keyed.ttft_mean_ms,
    keyed.ttft_p50_ms,
    keyed.ttft_p99_ms,
    keyed.tpot_mean_ms,
    keyed.tpot_p50_ms,
    keyed.tpot_p99_ms,
    keyed.e2e_mean_ms,
    keyed.e2e_p50_ms,
    keyed.e2e_p99_ms,
    keyed.accelerator_power_w,
    keyed.accelerator_energy_per_output_token_j,
    cost.cost_per_million_input_tokens_usd,
    cost.cost_per_million_output_tokens_usd,
    cost.cost_per_million_total_tokens_usd,
    datediff('day', cost.price_effective_date, keyed.started_at::date) as price_age_days,
    abs(cost.accelerator_count_ratio - 1) as accelerator_count_error,
    validity.load_unit,
    validity.is_open_loop,
    validity.is_closed_loop,
    validity.is_steady,
    validity.is_load_stated,
    validity.window_effect,
    validity.contradiction_count,
    abs(keyed.accelerator_energy_per_output_token_j * keyed.output_token_throughput_per_s / nullif(keyed.accelerator_power_w, 0) - 1)
        as energy_error,
    validity.steady_request_count,
    validity.steady_output_token_throughput_per_s,
    validity.steady_ttft_p99_ms,
    validity.steady_tpot_p99_ms,
    validity.steady_e2e_p99_ms,
    validity.littles_law_residual,
    validity.send_lag_p99_ms,
    validity.coordinated_omission,
    validity.send_rate_error,
    validity.unfinished_share,
    validity.effective_request_count,
    validity.output_length_error,
    validity.cut_stream_share,
    validity.must_miss_prefix_cache,
    validity.prefix_cache_hit_rate,
    if(accuracy.run_count > 0, true, null) as is_accuracy_shown
from keyed
left join serving_cost as cost
    on
        cost.run_id = keyed.run_id
        and cost.workload_point = keyed.workload_point
        and cost.concurrency_point is not distinct from keyed.concurrency_point
        and cost.request_rate_per_s is not distinct from keyed.request_rate_per_s
inner join run_session
    on run_session.run_id = keyed.run_id
left join run_replicate
    on run_replicate.run_id = keyed.run_id
left join software_version_dim as software
    on software.software_version_key = keyed.software_version_key
left join hardware_topology_dim as hardware
    on hardware.hardware_topology_key = keyed.hardware_topology_key
left join serving_validity as validity
    on
        validity.run_id = keyed.run_id
        and validity.workload_point = keyed.workload_point
        and validity.concurrency_point is not distinct from keyed.concurrency_point
        and validity.request_rate_per_s is not distinct from keyed.request_rate_per_s
left join accuracy
    on
        accuracy.model = keyed.model
        and accuracy.precision is not distinct from keyed.precision
        and accuracy.framework = software.framework
        and accuracy.framework_version = software.framework_version
        and accuracy.accelerator = coalesce(hardware.accelerator_name, hardware.gpu_model)
        and accuracy.accelerator_count = hardware.gpu_count
