/*
description: >
  One row per ending of a metric's name that states its unit, with the better direction of a quantity in that unit: a
  shorter time, a higher rate. It applies to metrics that metric_definition_dim does not define. If several endings
  match, the longest one counts. elapsed and rate are result keys of Thoth's performance indicators, whose names state no
  unit; that of the known indicators is in indicator_unit.
grain: [suffix]
columns:
  suffix: {type: varchar, description: "Ending of the name, or the whole name", tests: [not_null, unique]}
  unit: {type: varchar, description: "Unit; NULL: none is stated"}
  better: {type: varchar, description: "Which direction is better", tests: [not_null, {accepted_values: [lower, higher, neither]}]}
*/
select
    suffix,
    unit,
    better
from (
    values
    ('_ns', 'ns', 'lower'),
    ('_us', 'us', 'lower'),
    ('_usecs', 'us', 'lower'),
    ('_ms', 'ms', 'lower'),
    ('_s', 's', 'lower'),
    ('_per_s', '1/s', 'higher'),
    ('_gb_per_s', 'GB/s', 'higher'),
    ('_mib_per_s', 'MiB/s', 'higher'),
    ('_gbit_per_s', 'Gbit/s', 'higher'),
    ('_gflop_per_s', 'Gflop/s', 'higher'),
    ('_tflop_per_s', 'Tflop/s', 'higher'),
    ('_iops', '1/s', 'higher'),
    ('_mib', 'MiB', 'neither'),
    ('_mhz', 'MHz', 'neither'),
    ('_samples_per_s', 'samples/s', 'higher'),
    ('_tokens_per_s', 'tokens/s', 'higher'),
    ('_bytes', 'bytes', 'neither'),
    ('_pct', '%', 'neither'),
    ('_w', 'W', 'neither'),
    ('_c', '°C', 'neither'),
    ('elapsed', null, 'lower'),
    ('rate', null, 'higher')
) as known (suffix, unit, better)
