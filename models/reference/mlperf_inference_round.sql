/*
description: >
  One row per suite and round whose submission checker is known: how long a performance run must be set to last, and how
  its checker looks at queries and latency. Sources: mlcommons/inference, tools/submission (submission_checker.py of
  v3.1, v4.0 and v4.1; submission_checker/constants.py of v5.0 to v6.0); mlcommons/mlperf_automotive, tools/submission.
grain: [benchmark_suite, round]
columns:
  benchmark_suite: {type: varchar, description: "inference or automotive", tests: [not_null]}
  round: {type: varchar, description: "Round", tests: [not_null]}
  min_duration_ms: {type: double, unit: ms, description: "TEST_DURATION_MS, before v1.0 TEST_DURATION_MS_PRE_1_0", tests: [not_null]}
  uses_early_stopping: {type: boolean, description: "Whether early stopping decides on the queries of all scenarios but Offline, and the target latency is what is compared with the limit", tests: [not_null]}
  offline_sample_count: {type: double, description: "OFFLINE_MIN_SPQ: samples of an Offline query; NULL: the model's own"}
*/
select
    benchmark_suite,
    round,
    min_duration_ms::double as min_duration_ms,
    uses_early_stopping,
    offline_sample_count::double as offline_sample_count
from (
    values
    ('inference', 'v0.5', 60000, false, 24576),
    ('inference', 'v0.7', 60000, false, 24576),
    ('inference', 'v1.0', 600000, false, 24576),
    ('inference', 'v1.1', 600000, false, 24576),
    ('inference', 'v2.0', 600000, true, 24576),
    ('inference', 'v2.1', 600000, true, 24576),
    ('inference', 'v3.0', 600000, true, 24576),
    ('inference', 'v3.1', 600000, true, 24576),
    ('inference', 'v4.0', 600000, true, null),
    ('inference', 'v4.1', 600000, true, null),
    ('inference', 'v5.0', 600000, true, null),
    ('inference', 'v5.1', 600000, true, null),
    ('inference', 'v6.0', 600000, true, null),
    ('automotive', 'v0.5', 600000, true, null),
    ('automotive', 'v1.0', 600000, true, null)
) as rule (benchmark_suite, round, min_duration_ms, uses_early_stopping, offline_sample_count)
