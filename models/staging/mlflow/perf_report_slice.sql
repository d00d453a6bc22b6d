/*
description: >
  One row per run and node with a perf.py report: the node over the whole time that its samples cover. Use of CPU is
  weighted by time. A counter that is not known of every window is NULL.
grain: [run_id, artifact_manifest_digest, scope_name]
feeds: telemetry_slice
*/
select
    run_id,
    artifact_manifest_digest,
    'node' as scope,
    'node ' || node_rank as scope_name,
    min(window_start) as window_start,
    max(window_end) as window_end,
    sum(duration_s) as duration_s,
    count(*) as sample_count,
    sum(cpu_mean_pct * duration_s) / nullif(sum(duration_s) filter (where cpu_mean_pct is not null), 0) as cpu_util_mean_pct,
    min(cpu_min_pct) as cpu_util_min_pct,
    max(cpu_max_pct) as cpu_util_max_pct,
    case when count(disk_read_bytes) = count(*) filter (where has_baseline) then try_cast(sum(disk_read_bytes) as bigint) end as disk_read_bytes,
    case when count(disk_write_bytes) = count(*) filter (where has_baseline) then try_cast(sum(disk_write_bytes) as bigint) end as disk_write_bytes,
    case
        when count(net_external_sent_bytes) = count(*) filter (where has_baseline) then try_cast(sum(net_external_sent_bytes) as bigint)
    end as net_sent_bytes,
    case
        when count(net_external_recv_bytes) = count(*) filter (where has_baseline) then try_cast(sum(net_external_recv_bytes) as bigint)
    end as net_recv_bytes
from perf_report_node_sample
group by
    run_id,
    artifact_manifest_digest,
    node_rank
