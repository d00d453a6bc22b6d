/*
description: >
  One row per MLPerf Training (and HPC) benchmark whose logs state one quality: what at least one of a run's evaluations
  must be within, in the closed division. A benchmark that is not here, or had another target in an early round, is not
  checked. Source: mlcommons/logging, compliance_checker (ATLEAST_ONE_CHECK of eval_accuracy in training_3.0.0 to 5.1.0 and
  hpc_3.0.0).
grain: [benchmark]
columns:
  benchmark: {type: varchar, description: "Benchmark folder", tests: [not_null, unique]}
  least: {type: double, description: "Least value"}
  most: {type: double, description: "Most value"}
  since: {type: double, description: "Round from which it holds", tests: [not_null]}
*/
select
    benchmark,
    least::double as least,
    most::double as most,
    since::double as since
from (
    values
    ('bert', 0.720, 1, 3.0),
    ('deepcam', 0.82, 1, 3.0),
    ('dlrm_dcnv2', 0.80275, 1, 3.0),
    ('flux1', 0, 0.586, 5.1),
    ('gnn', 0.72, 1, 4.0),
    ('llama2_70b_lora', 0, 0.925, 4.0),
    ('llama31_405b', 0, 5.6, 5.0),
    ('llama31_8b', 0, 3.3, 5.1),
    ('resnet', 0.759, 1, 3.0),
    ('retinanet', 0.34, 1, 4.1),
    ('rgat', 0.72, 1, 5.0),
    ('ssd', 0.34, 1, 3.0)
) as target (benchmark, least, most, since)
