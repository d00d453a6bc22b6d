/*
description: >
  One row per MLPerf Training (and HPC) benchmark: how many runs a result needs, and how many of the fastest and of
  the slowest are dropped. A run that did not converge counts as one of the slowest; if more of them failed than are
  dropped, there is no result. For a benchmark that is not here, one run is dropped at each end, and the number of
  runs is not checked. Sources: MLPerf Training rules, section Benchmark Results; mlcommons/logging, benchmark_meta.py
  and result_summarizer.py (rounds v0.7 to v5.1); for v6.0, half of the reference's runs in rcps_gpt_oss_20b.json.
grain: [benchmark]
columns:
  benchmark: {type: varchar, description: "Benchmark folder", tests: [not_null, unique]}
  run_count: {type: bigint, description: "Runs that a result is made of", tests: [not_null]}
  dropped_count: {type: bigint, description: "Runs dropped at each end", tests: [not_null]}
*/
select
    benchmark,
    run_count::bigint as run_count,
    case when benchmark = 'unet3d' then 4 else 1 end::bigint as dropped_count
from (
    values
    ('bert', 10),
    ('cosmoflow', 10),
    ('deepcam', 5),
    ('dlrm', 5),
    ('dlrm_dcnv2', 10),
    ('flux1', 10),
    ('gnmt', 10),
    ('gnn', 10),
    ('gpt3', 3),
    ('gpt_oss_20b', 10),
    ('llama2_70b_lora', 10),
    ('llama31_405b', 3),
    ('llama31_8b', 10),
    ('maskrcnn', 5),
    ('minigo', 10),
    ('ncf', 10),
    ('oc20', 5),
    ('openfold', 10),
    ('resnet', 5),
    ('retinanet', 5),
    ('rgat', 10),
    ('rnnt', 10),
    ('ssd', 5),
    ('stable_diffusion', 10),
    ('transformer', 10),
    ('unet3d', 40)
) as rule (benchmark, run_count)
