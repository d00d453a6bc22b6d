/*
description: >
  Cost and energy of served models: one row per performance run, workload point and load, MLPerf's too. A cost is the price of the whole
  run over all its tokens of one kind: those of input, output and all tokens are three ways to count, and do not add up. Energy stands
  in columns of its own for each boundary: the accelerators, by their own counters; the whole system, by a power meter; and the
  power that a price list states as provisioned, which is not measured. What is not known is NULL, with its reason. If the stated
  throughput per accelerator contradicts the number of accelerators, that number is NULL, and so is all that depends on it.
grain: [run_id, workload_point, concurrency_point, request_rate_per_s]
columns:
  run_id: {type: varchar, description: "The run, the unit of replication", tests: [not_null]}
  workload_point: {tests: [not_null]}
  family: {tests: [not_null]}
  model: {type: varchar, description: "The served model"}
  framework: {type: varchar, description: "The serving software"}
  framework_version: {type: varchar, description: "Its version"}
  accelerator: {type: varchar, description: "Accelerator under one name for all spellings, else as written"}
  accelerator_count: {type: bigint, description: "Accelerators, of prefill and decode together"}
  input_token_throughput_per_s: {type: double, unit: tokens/s, description: "Input tokens per second"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens per second; NULL if they were not counted"}
  total_token_throughput_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second"}
  input_token_throughput_per_prefill_accelerator_per_s: {type: double, unit: tokens/s, description: "Input tokens per second / accelerators that prefill"}
  output_token_throughput_per_decode_accelerator_per_s: {type: double, unit: tokens/s, description: "Output tokens per second / accelerators that decode"}
  cost_per_million_input_tokens_usd: {type: double, unit: USD, description: "Price of the run over a million input tokens"}
  cost_per_million_output_tokens_usd: {type: double, unit: USD, description: "Price of the run over a million output tokens"}
  cost_per_million_total_tokens_usd: {type: double, unit: USD, description: "Price of the run over a million tokens of input and output"}
  prefill_cost_per_million_input_tokens_usd: {type: double, unit: USD, description: "Price of the accelerators that prefill over a million input tokens"}
  decode_cost_per_million_output_tokens_usd: {type: double, unit: USD, description: "Price of the accelerators that decode over a million output tokens"}
  cost_reason: {type: varchar, description: "Why a cost per million tokens of the run is NULL (docs/serving.md); NULL: all three are known"}
  accelerator_power_w: {type: double, unit: W, description: "Measured at the boards of all accelerators, mean of the measured window; hosts and cooling are not in it"}
  accelerator_energy_reason: {type: varchar, description: "Why an energy of all accelerators is NULL; NULL: all three are known"}
  system_power_w: {type: double, unit: W, description: "Measured by a power meter, mean of the measured window: the whole system under test"}
  system_energy_per_input_token_j: {type: double, unit: J, description: "Measured power of the system / input tokens per second"}
  system_energy_per_output_token_j: {type: double, unit: J, description: "Measured power of the system / output tokens per second"}
  system_energy_per_total_token_j: {type: double, unit: J, description: "Measured power of the system / input and output tokens per second"}
  system_energy_reason: {type: varchar, description: "Why an energy of the system is NULL; NULL: all three are known"}
  provisioned_power_w: {type: double, unit: W, description: "Power that is set aside for the run's accelerators, by the price list; not measured"}
  provisioned_energy_per_input_token_j: {type: double, unit: J, description: "Provisioned power / input tokens per second"}
  provisioned_energy_per_output_token_j: {type: double, unit: J, description: "Provisioned power / output tokens per second"}
  provisioned_energy_per_total_token_j: {type: double, unit: J, description: "Provisioned power / input and output tokens per second"}
  provisioned_energy_reason: {type: varchar, description: "Why an energy by provisioned power is NULL; NULL: all three are known"}
*/
with counted as (
    select
        outcome.*,
        run.family,
        run.hardware_topology_key,
        run.workload_spec_digest,
        run.software_version_key,
        case when not coalesce(outcome.is_token_throughput_inferred, false) then nullif(outcome.output_token_throughput_per_s, 0) end as output_rate,
        nullif(outcome.total_token_throughput_per_s, 0) as total_rate
    from serving_outcome_fact as outcome
    inner join benchmark_run_fact as run
        on run.run_id = outcome.run_id
    where
        run.mode = 'performance'
        and run.state = 'admitted'
        and not run.has_conflict
        -- What its own benchmark calls invalid is no result.
        and run.status is distinct from 'invalid'
),

point as (
    select
        *,
        case when total_rate > output_rate then total_rate - output_rate end as input_rate,
        case
            when is_token_throughput_inferred then 'tokens-not-counted'
            when output_rate is null and total_rate is null then 'no-throughput'
            when output_rate is null then 'no-output-token-throughput'
            when total_rate is null then 'no-total-token-throughput'
            when total_rate <= output_rate then 'no-input-token-throughput'
        end as rate_reason
    from counted
)

select
    point.run_id,
    point.workload_point,
    point.concurrency_point,
    point.request_rate_per_s,
    point.family,
    workload.model,
    software.framework,
    software.framework_version,
    coalesce(hardware.accelerator_name, hardware.gpu_model) as accelerator,
    hardware.gpu_count as accelerator_count,
    configuration.prefill_accelerator_count,
    configuration.decode_accelerator_count,
    point.implied_accelerator_count,
    point.accelerator_count_ratio,
    point.input_rate as input_token_throughput_per_s,
    point.output_rate as output_token_throughput_per_s,
    point.total_rate as total_token_throughput_per_s,
    point.input_rate / nullif(configuration.prefill_accelerator_count, 0) as input_token_throughput_per_prefill_accelerator_per_s,
    point.output_rate / nullif(configuration.decode_accelerator_count, 0) as output_token_throughput_per_decode_accelerator_per_s,
    price.usd_per_hour as price_usd_per_hour,
    price.prefill_usd_per_hour as prefill_price_usd_per_hour,
    price.decode_usd_per_hour as decode_price_usd_per_hour,
    price.effective_date as price_effective_date,
    price.provider as price_provider,
    price.source as price_source,
    price.price_row,
    price.price_list,
    price.usd_per_hour / 3600 / point.input_rate * 1e6 as cost_per_million_input_tokens_usd,
    price.usd_per_hour / 3600 / point.output_rate * 1e6 as cost_per_million_output_tokens_usd,
    price.usd_per_hour / 3600 / point.total_rate * 1e6 as cost_per_million_total_tokens_usd,
    price.prefill_usd_per_hour / 3600 / point.input_rate * 1e6 as prefill_cost_per_million_input_tokens_usd,
    price.decode_usd_per_hour / 3600 / point.output_rate * 1e6 as decode_cost_per_million_output_tokens_usd,
    case when price.usd_per_hour is null then point.cost_reason else point.rate_reason end as cost_reason,
    point.accelerator_power_w,
    point.accelerator_energy_per_input_token_j,
    point.accelerator_energy_per_output_token_j,
    point.accelerator_energy_per_total_token_j,
    point.prefill_accelerator_energy_per_input_token_j,
    point.decode_accelerator_energy_per_output_token_j,
    case
        when
            coalesce(
                point.accelerator_energy_per_input_token_j, point.accelerator_energy_per_output_token_j, point.accelerator_energy_per_total_token_j
            ) is null
            then 'accelerator-energy-not-stated'
        when
            point.accelerator_energy_per_input_token_j is null
            or point.accelerator_energy_per_output_token_j is null
            or point.accelerator_energy_per_total_token_j is null
            then 'accelerator-energy-partly-stated'
    end as accelerator_energy_reason,
    point.power_w as system_power_w,
    point.power_w / point.input_rate as system_energy_per_input_token_j,
    point.power_w / point.output_rate as system_energy_per_output_token_j,
    point.power_w / point.total_rate as system_energy_per_total_token_j,
    case when point.power_w is null then 'system-power-not-measured' else point.rate_reason end as system_energy_reason,
    price.provisioned_power_w,
    price.provisioned_power_w / point.input_rate as provisioned_energy_per_input_token_j,
    price.provisioned_power_w / point.output_rate as provisioned_energy_per_output_token_j,
    price.provisioned_power_w / point.total_rate as provisioned_energy_per_total_token_j,
    case
        when price.run_id is null then 'accelerator-not-stated'
        when price.provisioned_power_reason = 'accelerator-count-unknown' and point.accelerator_count_ratio is not null
            then 'accelerator-count-contradicted'
        when price.provisioned_power_reason is not null then price.provisioned_power_reason
        else point.rate_reason
    end as provisioned_energy_reason
from point
left join run_price as price
    on
        price.run_id = point.run_id
        and price.artifact_manifest_digest = point.artifact_manifest_digest
left join hardware_topology_dim as hardware
    on hardware.hardware_topology_key = point.hardware_topology_key
left join workload_dim as workload
    on workload.workload_spec_digest = point.workload_spec_digest
left join software_version_dim as software
    on software.software_version_key = point.software_version_key
left join serving_configuration_fact as configuration
    on configuration.run_id = point.run_id
