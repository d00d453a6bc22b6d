/*
description: >
  One row per run of PiMatmul, PiConv1D or PiConv2D: rate * elapsed, and the operations of one repetition by its
  parameters. They agree unless the script counts other operations than it ran.
grain: [run_id]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  indicator: {type: varchar, description: "The indicator's name"}
  script_sha256: {type: varchar, description: "The script that measured"}
  elapsed_ms: {type: double, unit: ms, description: "elapsed, as stated"}
  rate_gflop_per_s: {type: double, unit: Gflop/s, description: "rate, as stated"}
  stated_operations: {type: double, description: "rate * elapsed * 1e6"}
  operations: {type: double, description: "Multiplications and additions of one product or convolution, by the parameters"}
  mini_batch: {type: double, description: "Products or convolutions in one repetition; NULL: the parameter is not stated"}
  agrees: {type: boolean, description: "Whether stated_operations is operations, or operations * mini_batch, to 0.1 %; NULL where one of them is unknown"}
*/
with stated as (
    select
        run_id,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        min(indicator) as indicator,
        min(script_sha256) as script_sha256,
        max(value_number) filter (where kind = 'result' and key = 'elapsed') as elapsed_ms,
        max(value_number) filter (where kind = 'result' and key = 'rate') as rate_gflop_per_s,
        max(value_number) filter (where kind = 'parameter' and key = 'mini_batch') as mini_batch,
        max(value_number) filter (where kind = 'parameter' and key = 'matrix_size') as matrix_size,
        max(value_number) filter (where kind = 'parameter' and key = 'batch') as batch,
        max(value_number) filter (where kind = 'parameter' and key = 'input_height') as input_height,
        max(value_number) filter (where kind = 'parameter' and key = 'input_width') as input_width,
        max(value_number) filter (where kind = 'parameter' and key = 'input_channels') as input_channels,
        max(value_number) filter (where kind = 'parameter' and key = 'filter_height') as filter_height,
        max(value_number) filter (where kind = 'parameter' and key = 'filter_width') as filter_width,
        max(value_number) filter (where kind = 'parameter' and key = 'output_channels') as output_channels,
        max(value_number) filter (where kind = 'parameter' and key = 'strides') as strides
    from performance_indicator_fact
    where indicator in ('PiMatmul', 'PiConv1D', 'PiConv2D')
    group by run_id
),

counted as (
    select
        *,
        rate_gflop_per_s * elapsed_ms * 1e6 as stated_operations,
        case indicator
            when 'PiMatmul' then matrix_size * matrix_size * matrix_size + (matrix_size - 1) * matrix_size * matrix_size
            when 'PiConv1D' then batch * input_width * filter_width * input_channels * output_channels * 2 / nullif(strides, 0)
            else
                batch * input_height * input_width * filter_height * filter_width * input_channels * output_channels * 2
                / nullif(strides * strides, 0)
        end as operations
    from stated
)

select
    run_id,
    artifact_manifest_digest,
    indicator,
    script_sha256,
    elapsed_ms,
    rate_gflop_per_s,
    stated_operations,
    operations,
    mini_batch,
    abs(stated_operations - operations) <= 0.001 * operations
    or (mini_batch is not null and abs(stated_operations - operations * mini_batch) <= 0.001 * operations * mini_batch) as agrees
from counted
where
    elapsed_ms is not null
    or rate_gflop_per_s is not null
