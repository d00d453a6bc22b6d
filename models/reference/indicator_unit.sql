/*
description: >
  One row per result key of a performance indicator whose name states no unit, with the unit that the indicator's script
  uses. Thoth's scripts write elapsed in milliseconds per repetition (the median; versions before the spring of 2020 wrote
  the sum over all repetitions) and rate in GFLOPS; that of an import is in seconds. lightgbm-benchmark logs times in
  seconds, and latencies in microseconds. Other keys have the unit of their
  suffix, or none.
grain: [indicator, key]
columns:
  indicator: {type: varchar, description: "The indicator's name", tests: [not_null]}
  key: {type: varchar, description: "The result's key", tests: [not_null]}
  unit: {type: varchar, description: "Unit", tests: [not_null]}
  better: {type: varchar, description: "Which direction is better", tests: [not_null, {accepted_values: [lower, higher, neither]}]}
*/
select
    indicator,
    key,
    unit,
    better
from (
    values
    ('PiMatmul', 'elapsed', 'ms', 'lower'),
    ('PiMatmul', 'rate', 'Gflop/s', 'higher'),
    ('PiConv1D', 'elapsed', 'ms', 'lower'),
    ('PiConv1D', 'rate', 'Gflop/s', 'higher'),
    ('PiConv2D', 'elapsed', 'ms', 'lower'),
    ('PiConv2D', 'rate', 'Gflop/s', 'higher'),
    ('PiImport', 'elapsed', 's', 'lower'),
    ('lightgbm-benchmark', 'time_data_generation', 's', 'lower'),
    ('lightgbm-benchmark', 'time_data_generation_batch', 's', 'lower'),
    ('lightgbm-benchmark', 'time_data_loading', 's', 'lower'),
    ('lightgbm-benchmark', 'time_data_saving_batch', 's', 'lower'),
    ('lightgbm-benchmark', 'time_inferencing', 's', 'lower'),
    ('lightgbm-benchmark', 'time_partitioning', 's', 'lower'),
    ('lightgbm-benchmark', 'time_training', 's', 'lower'),
    ('lightgbm-benchmark', 'model_compilation', 's', 'lower'),
    ('lightgbm-benchmark', 'total_time', 's', 'lower'),
    ('lightgbm-benchmark', 'prediction_latency_avg', 'us', 'lower')
) as known (indicator, key, unit, better)
