/*
description: "One row per run of PiConv1D or PiConv2D, with the parameters and results of either."
materialized: view
grain: [run_id, indicator]
columns:
  component: {type: varchar, description: "The component under test"}
  script_sha256: {type: varchar, description: "The script that measured"}
  batch: {type: bigint, description: "The parameter batch"}
  data_format: {type: varchar, description: "The parameter data_format"}
  device: {type: varchar, description: "The parameter device"}
  dtype: {type: varchar, description: "The parameter dtype"}
  filter_height: {type: bigint, description: "The parameter filter_height"}
  filter_width: {type: bigint, description: "The parameter filter_width"}
  input_channels: {type: bigint, description: "The parameter input_channels"}
  input_height: {type: bigint, description: "The parameter input_height"}
  input_width: {type: bigint, description: "The parameter input_width"}
  mini_batch: {type: bigint, description: "The parameter mini_batch"}
  output_channels: {type: bigint, description: "The parameter output_channels"}
  padding: {type: varchar, description: "The parameter padding"}
  reps: {type: bigint, description: "The parameter reps"}
  strides: {type: bigint, description: "The parameter strides"}
  elapsed_ms: {type: double, unit: "ms", description: "The result elapsed"}
  rate_gflop_per_s: {type: double, unit: "Gflop/s", description: "The result rate"}
*/
select
    run_id,
    indicator,
    min(component) as component,
    min(script_sha256) as script_sha256,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'batch') as bigint) as batch,
    max(value_text) filter (where kind = 'parameter' and key = 'data_format') as data_format,
    max(value_text) filter (where kind = 'parameter' and key = 'device') as device,
    max(value_text) filter (where kind = 'parameter' and key = 'dtype') as dtype,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'filter_height') as bigint) as filter_height,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'filter_width') as bigint) as filter_width,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'input_channels') as bigint) as input_channels,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'input_height') as bigint) as input_height,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'input_width') as bigint) as input_width,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'mini_batch') as bigint) as mini_batch,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'output_channels') as bigint) as output_channels,
    max(value_text) filter (where kind = 'parameter' and key = 'padding') as padding,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'reps') as bigint) as reps,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'strides') as bigint) as strides,
    max(value_number) filter (where kind = 'result' and key = 'elapsed') as elapsed_ms,
    max(value_number) filter (where kind = 'result' and key = 'rate') as rate_gflop_per_s
from performance_indicator_fact
where indicator in ('PiConv1D', 'PiConv2D')
group by
    run_id,
    indicator
