/*
description: >
  One row per accelerator with a documented peak: dense FP8 matrix FLOP per second, which is half of what data sheets
  print "with sparsity". FP8, because language models are trained in it, or in narrower types, on all of these, and
  because logs before v6.0 do not state the type; a run in BF16 can reach at most half of it. The vendor documents no
  peak for an accelerator that is not here.
grain: [accelerator_family, accelerator_form_factor]
columns:
  accelerator_family: {type: varchar, description: "As the rules of accelerator_rule name it", tests: [not_null]}
  accelerator_form_factor: {type: varchar, description: "Its form factor", tests: [not_null]}
  fp8_dense_tflops: {type: double, unit: TFLOP/s, description: "Dense FP8 peak", tests: [not_null]}
  source: {type: varchar, description: "The vendor's document", tests: [not_null]}
*/
select
    accelerator_family,
    accelerator_form_factor,
    fp8_dense_tflops::double as fp8_dense_tflops,
    source
from (
    values
    ('H100', 'SXM', 1979, 'NVIDIA H100 Tensor Core GPU data sheet, H100 SXM: 3,958 with sparsity'),
    ('H200', 'SXM', 1979, 'NVIDIA H200 Tensor Core GPU data sheet, H200 SXM: 3,958 with sparsity'),
    ('H200', 'NVL', 1670.5, 'NVIDIA H200 Tensor Core GPU data sheet, H200 NVL: 3,341 with sparsity'),
    ('B200', 'SXM', 4500, 'NVIDIA HGX B200 data sheet: 72 PFLOP/s of 8 GPUs with sparsity'),
    ('GB200', 'superchip', 5000, 'NVIDIA GB200 NVL72 data sheet: 720 PFLOP/s of 72 GPUs with sparsity'),
    ('B300', 'SXM', 4500, 'NVIDIA HGX B300 data sheet: 72 PFLOP/s of 8 GPUs with sparsity'),
    ('GB300', 'superchip', 5000, 'NVIDIA GB300 NVL72 data sheet: 720 PFLOP/s of 72 GPUs with sparsity'),
    ('MI300X', 'OAM', 2614.9, 'AMD Instinct MI300X data sheet'),
    ('MI325X', 'OAM', 2614.9, 'AMD Instinct MI325X data sheet'),
    ('MI350X', 'OAM', 4614, 'AMD Instinct MI350X data sheet'),
    ('MI355X', 'OAM', 5033, 'AMD Instinct MI355X data sheet')
) as peak (accelerator_family, accelerator_form_factor, fp8_dense_tflops, source)
