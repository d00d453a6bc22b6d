/*
description: >
  Use of CPU, memory, disk and network by node, one row per run and node: the 18 metrics of lightgbm-benchmark's perf.py,
  computed over time from the samples of its report or of wh record. Where perf.py computes something else under the same
  name, that is beside it as _as_reported: what the run logged, or what the samples give by the same formula; NULL for
  recordings. staging.node_metric explains both.
grain: [run_id, node_rank]
claim:
  what: how a node was used while a run was observed
  population: every node of a performance run with samples, admitted, without conflict, failed runs too
  unit_of_replication: the run, one execution
  policy: exploratory
columns:
  node_name: {type: varchar, description: "The node; NULL where the evidence does not say"}
  sample_count: {type: bigint, description: "Samples"}
  duration_s: {type: double, unit: "s", description: "Time that the samples cover"}
  longest_interval_s: {type: double, unit: "s", description: "Longest window of a sample"}
  cpu_coverage_pct: {type: double, unit: "%", description: "Share of that time in which the use of CPU was observed; perf.py observes one second of each window"}
  incomplete_counter_count: {type: bigint, description: "Counters of which a window with a baseline has no value: they began anew, or are not stated; their totals are NULL"}
  cpu_count: {type: bigint, description: "Logical CPUs of the node; NULL where the evidence does not say"}
  cpu_avg_utilization_over20_pct: {type: double, unit: "%", description: "Share of time in which every CPU is used more than 20 %"}
  cpu_avg_utilization_over20_pct_as_reported: {type: double, unit: "%", description: "Share of samples in which the mean over CPUs is at least 20 %"}
  cpu_avg_utilization_over40_pct: {type: double, unit: "%", description: "Share of time in which every CPU is used more than 40 %"}
  cpu_avg_utilization_over40_pct_as_reported: {type: double, unit: "%", description: "Share of samples in which the mean over CPUs is at least 40 %"}
  cpu_avg_utilization_over80_pct: {type: double, unit: "%", description: "Share of time in which every CPU is used more than 80 %"}
  cpu_avg_utilization_over80_pct_as_reported: {type: double, unit: "%", description: "Share of samples in which the mean over CPUs is at least 80 %"}
  cpu_avg_utilization_at100_pct: {type: double, unit: "%", description: "Share of time in which every CPU is used fully"}
  cpu_avg_utilization_at100_pct_as_reported: {type: double, unit: "%", description: "Share of samples in which the mean over CPUs is 100 %"}
  cpu_avg_utilization_pct: {type: double, unit: "%", description: "Use of CPU, mean over CPUs and time"}
  cpu_avg_utilization_pct_as_reported: {type: double, unit: "%", description: "The same, plain mean over samples"}
  max_t_cpu_pct_per_cpu_avg: {type: double, unit: "%", description: "Use of CPU, mean over CPUs, largest over samples"}
  max_t_cpu_pct_per_cpu_min: {type: double, unit: "%", description: "Use of the least used CPU, largest over samples"}
  max_t_cpu_pct_per_cpu_max: {type: double, unit: "%", description: "Use of the most used CPU, largest over samples"}
  node_cpu_hours: {type: double, unit: "h", description: "duration_s times the CPUs of the node"}
  node_cpu_hours_as_reported: {type: double, unit: "h", description: "From the first sample to the report, times the CPUs of the reporting host"}
  node_unused_cpu_hours: {type: double, unit: "h", description: "node_cpu_hours times the unused share over time"}
  node_unused_cpu_hours_as_reported: {type: double, unit: "h", description: "The same by the reported hours and the plain mean"}
  max_t_mem_percent: {type: double, unit: "%", description: "Memory in use, largest over samples"}
  max_t_disk_usage_percent: {type: double, unit: "%", description: "Use of the root file system, largest over samples; recordings have none"}
  total_disk_io_read_mb: {type: double, unit: "MiB", description: "Read from disks while the run was observed; NULL: not known of every window"}
  total_disk_io_read_mb_as_reported: {type: double, unit: "MiB", description: "The counter since the host's boot, largest over samples"}
  total_disk_io_write_mb: {type: double, unit: "MiB", description: "Written to disks while the run was observed; NULL: not known of every window"}
  total_disk_io_write_mb_as_reported: {type: double, unit: "MiB", description: "The counter since the host's boot, largest over samples"}
  total_net_io_lo_sent_mb: {type: double, unit: "MiB", description: "Sent over loopback while the run was observed; NULL: not known of every window"}
  total_net_io_lo_sent_mb_as_reported: {type: double, unit: "MiB", description: "The counter since the host's boot, largest over samples"}
  total_net_io_ext_sent_mb: {type: double, unit: "MiB", description: "Sent over other interfaces while the run was observed; NULL: not known of every window"}
  total_net_io_ext_sent_mb_as_reported: {type: double, unit: "MiB", description: "The counter since the host's boot, largest over samples"}
  total_net_io_lo_recv_mb: {type: double, unit: "MiB", description: "Received over loopback while the run was observed; NULL: not known of every window"}
  total_net_io_lo_recv_mb_as_reported: {type: double, unit: "MiB", description: "The counter since the host's boot, largest over samples"}
  total_net_io_ext_recv_mb: {type: double, unit: "MiB", description: "Received over other interfaces while the run was observed; NULL: not known of every window"}
  total_net_io_ext_recv_mb_as_reported: {type: double, unit: "MiB", description: "The counter since the host's boot, largest over samples"}
*/
with observed as (
    select
        run_id,
        artifact_manifest_digest,
        node_rank,
        min(node_name) as node_name,
        count(*) as sample_count,
        sum(duration_s) as duration_s,
        max(duration_s) as longest_interval_s,
        sum(cpu_duration_s) as cpu_duration_s,
        max(cpu_count) as cpu_count,
        sum(duration_s) filter (where cpu_min_pct is not null) as min_known_s,
        sum(cpu_mean_pct * duration_s) / nullif(sum(duration_s) filter (where cpu_mean_pct is not null), 0) as mean_cpu_pct,
        avg(cpu_mean_pct) as plain_mean_cpu_pct,
        coalesce(sum(duration_s) filter (where cpu_min_pct > 20), 0) as over20_s,
        100.0 * count(*) filter (where cpu_mean_pct >= 20) / nullif(count(cpu_mean_pct), 0) as over20_sample_pct,
        coalesce(sum(duration_s) filter (where cpu_min_pct > 40), 0) as over40_s,
        100.0 * count(*) filter (where cpu_mean_pct >= 40) / nullif(count(cpu_mean_pct), 0) as over40_sample_pct,
        coalesce(sum(duration_s) filter (where cpu_min_pct > 80), 0) as over80_s,
        100.0 * count(*) filter (where cpu_mean_pct >= 80) / nullif(count(cpu_mean_pct), 0) as over80_sample_pct,
        coalesce(sum(duration_s) filter (where cpu_min_pct >= 100), 0) as at100_s,
        100.0 * count(*) filter (where cpu_mean_pct >= 100) / nullif(count(cpu_mean_pct), 0) as at100_sample_pct,
        max(cpu_mean_pct) as max_cpu_mean_pct,
        max(cpu_min_pct) as max_cpu_min_pct,
        max(cpu_max_pct) as max_cpu_max_pct,
        max(memory_pct) as max_memory_pct,
        max(disk_usage_pct) as max_disk_usage_pct,
        count(*) filter (where has_baseline) as baseline_count,
        sum(disk_read_bytes) filter (where has_baseline) / 1048576.0 as disk_read_mib,
        count(disk_read_bytes) filter (where has_baseline) as disk_read_count,
        max(disk_read_counter_mib) as max_disk_read_mib,
        sum(disk_write_bytes) filter (where has_baseline) / 1048576.0 as disk_write_mib,
        count(disk_write_bytes) filter (where has_baseline) as disk_write_count,
        max(disk_write_counter_mib) as max_disk_write_mib,
        sum(net_loopback_sent_bytes) filter (where has_baseline) / 1048576.0 as net_loopback_sent_mib,
        count(net_loopback_sent_bytes) filter (where has_baseline) as net_loopback_sent_count,
        max(net_loopback_sent_counter_mib) as max_net_loopback_sent_mib,
        sum(net_external_sent_bytes) filter (where has_baseline) / 1048576.0 as net_external_sent_mib,
        count(net_external_sent_bytes) filter (where has_baseline) as net_external_sent_count,
        max(net_external_sent_counter_mib) as max_net_external_sent_mib,
        sum(net_loopback_recv_bytes) filter (where has_baseline) / 1048576.0 as net_loopback_recv_mib,
        count(net_loopback_recv_bytes) filter (where has_baseline) as net_loopback_recv_count,
        max(net_loopback_recv_counter_mib) as max_net_loopback_recv_mib,
        sum(net_external_recv_bytes) filter (where has_baseline) / 1048576.0 as net_external_recv_mib,
        count(net_external_recv_bytes) filter (where has_baseline) as net_external_recv_count,
        max(net_external_recv_counter_mib) as max_net_external_recv_mib
    from node_sample
    group by
        run_id,
        artifact_manifest_digest,
        node_rank
)

select
    observed.run_id,
    observed.node_rank,
    coalesce(observed.node_name, run.node_name) as node_name,
    run.family,
    run.status,
    observed.sample_count,
    observed.duration_s,
    observed.longest_interval_s,
    100.0 * observed.cpu_duration_s / nullif(observed.duration_s, 0) as cpu_coverage_pct,
    (observed.disk_read_count < observed.baseline_count)::bigint + (observed.disk_write_count < observed.baseline_count)::bigint + (observed.net_loopback_sent_count < observed.baseline_count)::bigint
    + (observed.net_external_sent_count < observed.baseline_count)::bigint + (observed.net_loopback_recv_count < observed.baseline_count)::bigint + (observed.net_external_recv_count < observed.baseline_count)::bigint as incomplete_counter_count,
    observed.cpu_count,
    100.0 * case when observed.min_known_s is not null then observed.over20_s end / nullif(observed.min_known_s, 0) as cpu_avg_utilization_over20_pct,
    coalesce(reported.cpu_avg_utilization_over20_pct, case when run.family = 'mlflow' then observed.over20_sample_pct end)
        as cpu_avg_utilization_over20_pct_as_reported,
    100.0 * case when observed.min_known_s is not null then observed.over40_s end / nullif(observed.min_known_s, 0) as cpu_avg_utilization_over40_pct,
    coalesce(reported.cpu_avg_utilization_over40_pct, case when run.family = 'mlflow' then observed.over40_sample_pct end)
        as cpu_avg_utilization_over40_pct_as_reported,
    100.0 * case when observed.min_known_s is not null then observed.over80_s end / nullif(observed.min_known_s, 0) as cpu_avg_utilization_over80_pct,
    coalesce(reported.cpu_avg_utilization_over80_pct, case when run.family = 'mlflow' then observed.over80_sample_pct end)
        as cpu_avg_utilization_over80_pct_as_reported,
    100.0 * case when observed.min_known_s is not null then observed.at100_s end / nullif(observed.min_known_s, 0) as cpu_avg_utilization_at100_pct,
    coalesce(reported.cpu_avg_utilization_at100_pct, case when run.family = 'mlflow' then observed.at100_sample_pct end)
        as cpu_avg_utilization_at100_pct_as_reported,
    observed.mean_cpu_pct as cpu_avg_utilization_pct,
    coalesce(reported.cpu_avg_utilization_pct, case when run.family = 'mlflow' then observed.plain_mean_cpu_pct end)
        as cpu_avg_utilization_pct_as_reported,
    observed.max_cpu_mean_pct as max_t_cpu_pct_per_cpu_avg,
    observed.max_cpu_min_pct as max_t_cpu_pct_per_cpu_min,
    observed.max_cpu_max_pct as max_t_cpu_pct_per_cpu_max,
    observed.duration_s * observed.cpu_count / 3600.0 as node_cpu_hours,
    reported.node_cpu_hours as node_cpu_hours_as_reported,
    observed.duration_s * observed.cpu_count / 3600.0 * (100.0 - observed.mean_cpu_pct) / 100.0 as node_unused_cpu_hours,
    reported.node_unused_cpu_hours as node_unused_cpu_hours_as_reported,
    observed.max_memory_pct as max_t_mem_percent,
    observed.max_disk_usage_pct as max_t_disk_usage_percent,
    case when observed.disk_read_count = observed.baseline_count then observed.disk_read_mib end as total_disk_io_read_mb,
    coalesce(reported.total_disk_io_read_mb, observed.max_disk_read_mib) as total_disk_io_read_mb_as_reported,
    case when observed.disk_write_count = observed.baseline_count then observed.disk_write_mib end as total_disk_io_write_mb,
    coalesce(reported.total_disk_io_write_mb, observed.max_disk_write_mib) as total_disk_io_write_mb_as_reported,
    case when observed.net_loopback_sent_count = observed.baseline_count then observed.net_loopback_sent_mib end as total_net_io_lo_sent_mb,
    coalesce(reported.total_net_io_lo_sent_mb, observed.max_net_loopback_sent_mib) as total_net_io_lo_sent_mb_as_reported,
    case when observed.net_external_sent_count = observed.baseline_count then observed.net_external_sent_mib end as total_net_io_ext_sent_mb,
    coalesce(reported.total_net_io_ext_sent_mb, observed.max_net_external_sent_mib) as total_net_io_ext_sent_mb_as_reported,
    case when observed.net_loopback_recv_count = observed.baseline_count then observed.net_loopback_recv_mib end as total_net_io_lo_recv_mb,
    coalesce(reported.total_net_io_lo_recv_mb, observed.max_net_loopback_recv_mib) as total_net_io_lo_recv_mb_as_reported,
    case when observed.net_external_recv_count = observed.baseline_count then observed.net_external_recv_mib end as total_net_io_ext_recv_mb,
    coalesce(reported.total_net_io_ext_recv_mb, observed.max_net_external_recv_mib) as total_net_io_ext_recv_mb_as_reported
from observed
inner join benchmark_run_fact as run
    on
        run.run_id = observed.run_id
        and run.artifact_manifest_digest = observed.artifact_manifest_digest
left join node_reported as reported
    on
        reported.run_id = observed.run_id
        and reported.artifact_manifest_digest = observed.artifact_manifest_digest
        and reported.node_rank = observed.node_rank
where
    run.mode = 'performance'
    and run.state = 'admitted'
    and not run.has_conflict
