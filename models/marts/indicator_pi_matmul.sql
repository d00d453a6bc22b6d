/*
description: "One row per run of PiMatmul, with its parameters and results."
materialized: view
grain: [run_id]
columns:
  component: {type: varchar, description: "The component under test"}
  script_sha256: {type: varchar, description: "The script that measured"}
  device: {type: varchar, description: "The parameter device"}
  dtype: {type: varchar, description: "The parameter dtype"}
  matrix_size: {type: bigint, description: "The parameter matrix_size"}
  mini_batch: {type: bigint, description: "The parameter mini_batch"}
  reps: {type: bigint, description: "The parameter reps"}
  elapsed_ms: {type: double, unit: "ms", description: "The result elapsed"}
  rate_gflop_per_s: {type: double, unit: "Gflop/s", description: "The result rate"}
*/
select
    run_id,
    min(component) as component,
    min(script_sha256) as script_sha256,
    max(value_text) filter (where kind = 'parameter' and key = 'device') as device,
    max(value_text) filter (where kind = 'parameter' and key = 'dtype') as dtype,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'matrix_size') as bigint) as matrix_size,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'mini_batch') as bigint) as mini_batch,
    try_cast(max(value_number) filter (where kind = 'parameter' and key = 'reps') as bigint) as reps,
    max(value_number) filter (where kind = 'result' and key = 'elapsed') as elapsed_ms,
    max(value_number) filter (where kind = 'result' and key = 'rate') as rate_gflop_per_s
from performance_indicator_fact
where indicator = 'PiMatmul'
group by run_id
