/*
description: >
  One row per recorded run: its host over the whole run. Utilisation is weighted by each sample's duration, because
  samples are not evenly spaced; counters are summed deltas from a baseline taken before the start.
grain: [run_id, artifact_manifest_digest]
feeds: telemetry_slice
*/
select
    sample.run_id,
    sample.artifact_manifest_digest,
    'node' as scope,
    min(run.hostname) as node_name,
    min(sample.window_start) as window_start,
    max(sample.window_end) as window_end,
    sum(sample.duration_s) as duration_s,
    count(*) as sample_count,
    sum(sample.cpu_mean_pct * sample.duration_s) / sum(sample.duration_s) filter (where sample.cpu_mean_pct is not null) as cpu_util_mean_pct,
    min(sample.cpu_min_pct) as cpu_util_min_pct,
    max(sample.cpu_max_pct) as cpu_util_max_pct,
    arg_max(sample.memory_used_bytes, sample.window_end) as memory_used_bytes,
    sum(sample.disk_read_bytes)::bigint as disk_read_bytes,
    sum(sample.disk_write_bytes)::bigint as disk_write_bytes,
    sum(sample.net_external_sent_bytes)::bigint as net_sent_bytes,
    sum(sample.net_external_recv_bytes)::bigint as net_recv_bytes
from recorded_host_sample as sample
inner join recorded_run as run
    on
        run.run_id = sample.run_id
        and run.artifact_manifest_digest = sample.artifact_manifest_digest
where sample.window_start is not null
group by
    sample.run_id,
    sample.artifact_manifest_digest
