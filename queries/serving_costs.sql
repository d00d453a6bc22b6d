/*
description: >
  Cost and energy of served models: one row per run, workload point and load, with the price that was used and its row in the price list.
  Each energy has a boundary: the accelerators by their own counters, the whole system by a power meter, or the power that a price list
  states as provisioned, which is not measured.
grain: [run_id, workload_point, concurrency_point, request_rate_per_s]
claim:
  what: what a million tokens cost, and the energy of a token, in one run, at one workload point and load
  population: every performance run of a served model in the warehouse, without conflict, MLPerf's too unless it is invalid
  unit_of_replication: the run; its requests are not replicates
  policy: exploratory
columns:
  accelerator_count: {type: bigint, description: "Accelerators, of prefill and decode together; NULL: not known, or contradicted"}
  accelerator_count_ratio: {type: double, description: "Accelerators by the deployment / accelerators by throughput over stated throughput per accelerator: 1 if they agree"}
  cost_reason: {type: varchar, description: "Why a cost is NULL: no-price until a price list is ingested, others in docs/serving.md; NULL: all three are known"}
  accelerator_energy_per_input_token_j: {type: double, unit: J, description: "Energy of all accelerators / input tokens, by the accelerators' own counters"}
  accelerator_energy_reason: {type: varchar, description: "Why an energy of the accelerators is NULL"}
  system_energy_per_input_token_j: {type: double, unit: J, description: "Power of the whole system, by a power meter / input tokens per second"}
  system_energy_per_output_token_j: {type: double, unit: J, description: "Power of the whole system / output tokens per second"}
  system_energy_per_total_token_j: {type: double, unit: J, description: "Power of the whole system / input and output tokens per second"}
  provisioned_energy_per_input_token_j: {type: double, unit: J, description: "Provisioned power, not measured / input tokens per second"}
*/
select
    cost.run_id,
    cost.workload_point,
    cost.concurrency_point,
    cost.request_rate_per_s,
    cost.family,
    cost.model,
    cost.framework,
    cost.framework_version,
    cost.accelerator,
    cost.accelerator_count,
    cost.prefill_accelerator_count,
    cost.decode_accelerator_count,
    cost.accelerator_count_ratio,
    cost.input_token_throughput_per_s,
    cost.output_token_throughput_per_s,
    cost.total_token_throughput_per_s,
    cost.price_usd_per_hour,
    cost.price_effective_date,
    cost.price_provider,
    cost.price_source,
    cost.price_row,
    cost.price_list,
    cost.cost_per_million_input_tokens_usd,
    cost.cost_per_million_output_tokens_usd,
    cost.cost_per_million_total_tokens_usd,
    cost.cost_reason,
    cost.accelerator_energy_per_input_token_j,
    cost.accelerator_energy_per_output_token_j,
    cost.accelerator_energy_per_total_token_j,
    cost.accelerator_energy_reason,
    cost.system_energy_per_input_token_j,
    cost.system_energy_per_output_token_j,
    cost.system_energy_per_total_token_j,
    cost.system_energy_reason,
    cost.provisioned_energy_per_input_token_j,
    cost.provisioned_energy_per_output_token_j,
    cost.provisioned_energy_per_total_token_j,
    cost.provisioned_energy_reason
from serving_cost as cost
