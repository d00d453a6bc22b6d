/*
description: >
  One row per window of a node of a recorded run. The recorder reads its counters before the start, so the windows tile the
  run, and it observes the CPUs all the time.
feeds: node_sample
*/
select
    sample.run_id,
    sample.artifact_manifest_digest,
    run.node_rank,
    run.hostname as node_name,
    sample.window_start,
    sample.window_end,
    sample.duration_s,
    sample.duration_s as cpu_duration_s,
    true as has_baseline,
    run.logical_cores as cpu_count,
    sample.cpu_mean_pct,
    sample.cpu_min_pct,
    sample.cpu_max_pct,
    100.0 * (run.memory_bytes - sample.memory_available_bytes) / nullif(run.memory_bytes, 0) as memory_pct,
    sample.disk_read_bytes,
    sample.disk_write_bytes,
    sample.net_loopback_sent_bytes,
    sample.net_external_sent_bytes,
    sample.net_loopback_recv_bytes,
    sample.net_external_recv_bytes
from recorded_host_sample as sample
inner join recorded_node as run
    on
        run.run_id = sample.run_id
        and run.artifact_manifest_digest = sample.artifact_manifest_digest
where
    sample.window_start is not null
    and sample.window_end is not null
    and sample.duration_s >= 0
