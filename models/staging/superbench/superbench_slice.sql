/*
description: >
  One row per sample and GPU of a monitor that states when it sampled. Units are those of SuperBench's device manager
  (superbench/common/devices/gpu.py): percent, degrees Celsius, watts, bytes. CPU usage is left out: it is the sum
  over all CPUs, and no sample states how many there are.
grain: [run_id, artifact_manifest_digest, scope_name, window_start]
feeds: telemetry_slice
*/
select
    sample.run_id,
    sample.artifact_manifest_digest,
    'gpu' as scope,
    'gpu ' || sample.gpu::varchar as scope_name,
    any_value(run.node) as node_name,
    sample.sampled_at as window_start,
    1::bigint as sample_count,
    max(sample.value_number) filter (where sample.key = 'gpu_usage') as gpu_util_pct,
    max(sample.value_number) filter (where sample.key = 'gpu_mem_used')::bigint as gpu_memory_used_bytes,
    max(sample.value_number) filter (where sample.key = 'gpu_temperature') as temperature_c,
    max(sample.value_number) filter (where sample.key = 'gpu_power') as power_w
from superbench_sample as sample
inner join superbench_run as run
    on
        run.run_id = sample.run_id
        and run.artifact_manifest_digest = sample.artifact_manifest_digest
where
    sample.gpu is not null
    and sample.sampled_at is not null
group by
    sample.run_id,
    sample.artifact_manifest_digest,
    sample.gpu,
    sample.sampled_at
