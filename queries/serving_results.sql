/*
description: >
  Serving results: one row per run, workload point and load, with the model, the accelerators and what a client saw. A
  run in which every request failed is a row with an error rate of 1 and no latencies.
grain: [run_id, workload_point, concurrency_point, request_rate_per_s]
claim:
  what: what the clients of one served model saw in one run, at one workload point and load
  population: >
    every performance run of a serving benchmark in the warehouse, without conflict; MLPerf's submissions have a rollup of
    their own, by their own rules
  unit_of_replication: the run; its requests are not replicates
  policy: exploratory
columns:
  same_figures_as: {type: varchar, description: "Another admitted run that states the same figures: probably the same measurement, filed twice"}
  model: {type: varchar, description: "The served model"}
  framework: {type: varchar, description: "The serving software"}
  accelerator_name: {type: varchar, description: "The accelerator under one name for all spellings; NULL where no rule knows it, or it is a part of one"}
  tensor_parallel_size: {type: bigint, description: "Tensor-parallel size; this and what follows is NULL where it is not stated"}
  configuration_stated_in: {type: varchar, description: "Where sizes, precision and lengths are stated: record, console, name, manifest, report, configuration"}
  output_token_throughput_per_accelerator_per_s: {type: double, unit: tokens/s, description: "Output tokens per second / accelerators, of prefill and decode together"}
  total_token_throughput_per_accelerator_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second / accelerators"}
*/
select
    outcome.run_id,
    outcome.workload_point,
    outcome.concurrency_point,
    outcome.request_rate_per_s,
    run.family,
    run.status,
    same.same_figures_as,
    run.started_at,
    workload.model,
    software.framework,
    software.framework_version,
    hardware.gpu_model as accelerator,
    hardware.accelerator_name,
    hardware.accelerator_vendor,
    hardware.accelerator_family,
    hardware.accelerator_form_factor,
    hardware.accelerator_memory_gb,
    hardware.gpu_count as accelerator_count,
    outcome.deployment_model,
    configuration.tensor_parallel_size,
    configuration.pipeline_parallel_size,
    configuration.expert_parallel_size,
    configuration.data_parallel_size,
    configuration.precision,
    configuration.is_prefix_caching_enabled,
    configuration.server_flags,
    configuration.input_length,
    configuration.output_length,
    configuration.stated_in as configuration_stated_in,
    outcome.completed_count,
    outcome.failed_count,
    outcome.error_rate,
    outcome.request_throughput_per_s,
    outcome.output_token_throughput_per_s,
    outcome.total_token_throughput_per_s,
    outcome.audio_throughput_s_per_s,
    outcome.output_token_throughput_per_s / nullif(hardware.gpu_count, 0) as output_token_throughput_per_accelerator_per_s,
    outcome.total_token_throughput_per_s / nullif(hardware.gpu_count, 0) as total_token_throughput_per_accelerator_per_s,
    outcome.ttft_mean_ms,
    outcome.ttft_p50_ms,
    outcome.ttft_p90_ms,
    outcome.ttft_p95_ms,
    outcome.ttft_p99_ms,
    outcome.tpot_mean_ms,
    outcome.tpot_p50_ms,
    outcome.tpot_p90_ms,
    outcome.tpot_p95_ms,
    outcome.tpot_p99_ms,
    outcome.itl_mean_ms,
    outcome.itl_p50_ms,
    outcome.itl_p90_ms,
    outcome.itl_p95_ms,
    outcome.itl_p99_ms,
    outcome.e2e_mean_ms,
    outcome.e2e_p50_ms,
    outcome.e2e_p90_ms,
    outcome.e2e_p95_ms,
    outcome.e2e_p99_ms,
    outcome.jitter_ms,
    outcome.stated_latencies,
    outcome.cost_per_request_usd,
    outcome.cost_per_token_usd,
    outcome.cost_reason
from serving_outcome_fact as outcome
inner join benchmark_run_fact as run
    on run.run_id = outcome.run_id
left join serving_same_figures as same
    on
        same.run_id = outcome.run_id
        and same.workload_point = outcome.workload_point
        and same.concurrency_point is not distinct from outcome.concurrency_point
        and same.request_rate_per_s is not distinct from outcome.request_rate_per_s
left join workload_dim as workload
    on workload.workload_spec_digest = run.workload_spec_digest
left join hardware_topology_dim as hardware
    on hardware.hardware_topology_key = run.hardware_topology_key
left join software_version_dim as software
    on software.software_version_key = run.software_version_key
left join serving_configuration_fact as configuration
    on configuration.run_id = outcome.run_id
where
    run.mode = 'performance'
    and run.family <> 'mlperf_inference'
    and run.state = 'admitted'
    and not run.has_conflict
