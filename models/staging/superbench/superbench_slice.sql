/*
description: >
  One row per sample, GPU and metric of a monitor that states when it sampled. Units are those of SuperBench's device
  manager (superbench/common/devices/gpu.py): percent, degrees Celsius, watts, bytes. CPU usage is left out: it is the
  sum over all CPUs, and no sample states how many there are.
grain: [run_id, artifact_manifest_digest, scope_name, metric, window_start]
feeds: telemetry_slice
*/
select
    sample.run_id,
    sample.artifact_manifest_digest,
    'interval' as window_kind,
    sample.sampled_at as window_start,
    'gpu' as scope,
    'gpu ' || sample.gpu::varchar as scope_name,
    any_value(run.node) as node_name,
    known.metric,
    known.unit,
    sample.key as source_metric,
    1::bigint as sample_count,
    max(sample.value_number) as value_mean
from superbench_sample as sample
inner join superbench_run as run
    on
        run.run_id = sample.run_id
        and run.artifact_manifest_digest = sample.artifact_manifest_digest
inner join (
    values
    ('gpu_usage', 'gpu_util_pct', '%'),
    ('gpu_mem_used', 'gpu_memory_used_bytes', 'bytes'),
    ('gpu_temperature', 'gpu_temperature_c', '°C'),
    ('gpu_power', 'gpu_power_w', 'W')
) as known (key, metric, unit)
    on known.key = sample.key
where
    sample.gpu is not null
    and sample.sampled_at is not null
    and sample.value_number is not null
group by
    sample.run_id,
    sample.artifact_manifest_digest,
    sample.gpu,
    sample.sampled_at,
    sample.key,
    known.metric,
    known.unit
