/*
description: >
  One row per recorded run: its host over the whole run. Utilisation is weighted by each sample's duration, because
  samples are not evenly spaced; counters are summed deltas from a baseline taken before the start.
grain: [run_id, artifact_manifest_digest]
feeds: telemetry_slice
*/
select
    run_id,
    artifact_manifest_digest,
    'node' as scope,
    min(window_start) as window_start,
    max(window_end) as window_end,
    sum(duration_s) as duration_s,
    count(*) as sample_count,
    sum(cpu_mean_pct * duration_s) / sum(duration_s) filter (where cpu_mean_pct is not null) as cpu_util_mean_pct,
    min(cpu_min_pct) as cpu_util_min_pct,
    max(cpu_max_pct) as cpu_util_max_pct,
    arg_max(memory_used_bytes, window_end) as memory_used_bytes,
    sum(disk_read_bytes)::bigint as disk_read_bytes,
    sum(disk_write_bytes)::bigint as disk_write_bytes,
    sum(net_external_sent_bytes)::bigint as net_sent_bytes,
    sum(net_external_recv_bytes)::bigint as net_recv_bytes
from recorded_host_sample
where window_start is not null
group by
    run_id,
    artifact_manifest_digest
