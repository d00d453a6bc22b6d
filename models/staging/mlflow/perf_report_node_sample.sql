/*
description: >
  One row per sample of a perf.py report whose time is after that of the sample before. Its window begins at that sample;
  that of a node's first sample one second before it, because perf.py observes the CPUs for one second. Of every window,
  only its last second is observed.
grain: [run_id, artifact_manifest_digest, node_rank, window_end]
feeds: node_sample
*/
with paired as (
    select
        later.*,
        earlier.sampled_at as earlier_at,
        later.timestamp - earlier.timestamp as interval_s,
        earlier.timestamp is not null as has_baseline,
        later.disk_io_read_mb - earlier.disk_io_read_mb as disk_read_mib,
        -- Before February 2022 this counter was a number of operations.
        case when later.timestamp >= epoch(timestamptz '2022-02-08 00:00:00+00') then later.disk_io_write_mb - earlier.disk_io_write_mb end as disk_write_mib,
        later.net_io_lo_sent_mb - earlier.net_io_lo_sent_mb as lo_sent_mib,
        later.net_io_ext_sent_mb - earlier.net_io_ext_sent_mb as ext_sent_mib,
        later.net_io_lo_recv_mb - earlier.net_io_lo_recv_mb as lo_recv_mib,
        later.net_io_ext_recv_mb - earlier.net_io_ext_recv_mb as ext_recv_mib
    from perf_report_sample as later
    left join perf_report_sample as earlier
        on
            earlier.run_id = later.run_id
            and earlier.artifact_manifest_digest = later.artifact_manifest_digest
            and earlier.node_rank = later.node_rank
            and earlier.sample_index = later.baseline_index
    where later.is_in_order
)

select
    paired.run_id,
    paired.artifact_manifest_digest,
    paired.node_rank,
    coalesce(paired.earlier_at, paired.sampled_at - interval 1 second) as window_start,
    paired.sampled_at as window_end,
    coalesce(paired.interval_s, 1.0) as duration_s,
    least(1.0, coalesce(paired.interval_s, 1.0)) as cpu_duration_s,
    paired.has_baseline,
    -- The tag is of node 0; perf.py takes it for every node.
    case when paired.node_rank = 0 or run.node_count = 1 then tag.cpu_count end as cpu_count,
    paired.cpu_pct_per_cpu_avg as cpu_mean_pct,
    paired.cpu_pct_per_cpu_min as cpu_min_pct,
    paired.cpu_pct_per_cpu_max as cpu_max_pct,
    paired.mem_percent as memory_pct,
    paired.disk_usage_percent as disk_usage_pct,
    case when paired.disk_read_mib >= 0 then try_cast(round(paired.disk_read_mib * 1048576) as bigint) end as disk_read_bytes,
    case when paired.disk_write_mib >= 0 then try_cast(round(paired.disk_write_mib * 1048576) as bigint) end as disk_write_bytes,
    case when paired.lo_sent_mib >= 0 then try_cast(round(paired.lo_sent_mib * 1048576) as bigint) end as net_loopback_sent_bytes,
    case when paired.ext_sent_mib >= 0 then try_cast(round(paired.ext_sent_mib * 1048576) as bigint) end as net_external_sent_bytes,
    case when paired.lo_recv_mib >= 0 then try_cast(round(paired.lo_recv_mib * 1048576) as bigint) end as net_loopback_recv_bytes,
    case when paired.ext_recv_mib >= 0 then try_cast(round(paired.ext_recv_mib * 1048576) as bigint) end as net_external_recv_bytes,
    paired.disk_io_read_mb as disk_read_counter_mib,
    paired.disk_io_write_mb as disk_write_counter_mib,
    paired.net_io_lo_sent_mb as net_loopback_sent_counter_mib,
    paired.net_io_ext_sent_mb as net_external_sent_counter_mib,
    paired.net_io_lo_recv_mb as net_loopback_recv_counter_mib,
    paired.net_io_ext_recv_mb as net_external_recv_counter_mib
from paired
left join mlflow_run as run
    on
        run.run_id = paired.run_id
        and run.artifact_manifest_digest = paired.artifact_manifest_digest
left join mlflow_tag as tag
    on
        tag.run_id = paired.run_id
        and tag.artifact_manifest_digest = paired.artifact_manifest_digest
