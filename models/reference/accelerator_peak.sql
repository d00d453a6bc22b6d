/*
description: >
  One row per accelerator whose vendor documents its peak: dense FP8 matrix FLOP per second, which is half of what data sheets
  print "with sparsity". FP8 because language models are trained in it, or narrower, on all of these, and because logs
  before v6.0 do not state the type: a run in BF16 can reach no more than half of it. An accelerator is known by the first words of its name as
  submissions write it; one that is not here has no documented peak.
grain: [accelerator]
columns:
  accelerator: {type: varchar, description: "How names of this accelerator begin, lower case, without the vendor", tests: [not_null, unique]}
  fp8_dense_tflops: {type: double, unit: TFLOP/s, description: "Dense FP8 peak", tests: [not_null]}
  source: {type: varchar, description: "The vendor's document", tests: [not_null]}
*/
select
    accelerator,
    fp8_dense_tflops::double as fp8_dense_tflops,
    source
from (
    values
    ('h100-sxm', 1979, 'NVIDIA H100 Tensor Core GPU data sheet, H100 SXM: 3,958 with sparsity'),
    ('h200-sxm', 1979, 'NVIDIA H200 Tensor Core GPU data sheet, H200 SXM: 3,958 with sparsity'),
    ('h200-nvl', 1670.5, 'NVIDIA H200 Tensor Core GPU data sheet, H200 NVL: 3,341 with sparsity'),
    ('blackwell gpu (b200', 4500, 'NVIDIA HGX B200 data sheet: 72 PFLOP/s of 8 GPUs with sparsity'),
    ('blackwell gpu (gb200)', 5000, 'NVIDIA GB200 NVL72 data sheet: 720 PFLOP/s of 72 GPUs with sparsity'),
    ('blackwell ultra gpu (b300', 4500, 'NVIDIA HGX B300 data sheet: 72 PFLOP/s of 8 GPUs with sparsity'),
    ('blackwell ultra gpu (gb300)', 5000, 'NVIDIA GB300 NVL72 data sheet: 720 PFLOP/s of 72 GPUs with sparsity'),
    ('instinct mi300x', 2614.9, 'AMD Instinct MI300X data sheet'),
    ('instinct mi325x', 2614.9, 'AMD Instinct MI325X data sheet'),
    ('instinct mi350x', 4614, 'AMD Instinct MI350X data sheet'),
    ('instinct mi355x', 5033, 'AMD Instinct MI355X data sheet')
) as peak (accelerator, fp8_dense_tflops, source)
