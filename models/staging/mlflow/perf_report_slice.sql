/*
description: >
  One row per run, node with a perf.py report and metric: the node over the whole time that its samples cover. Use of CPU
  is weighted by time. A counter that is not known of every window has no row.
grain: [run_id, artifact_manifest_digest, scope_name, metric]
feeds: telemetry_slice
*/
with whole as (
    select
        run_id,
        artifact_manifest_digest,
        node_rank,
        min(window_start) as window_start,
        max(window_end) as window_end,
        count(*) as sample_count,
        count(*) filter (where has_baseline) as baseline_count,
        sum(cpu_mean_pct * duration_s) / nullif(sum(duration_s) filter (where cpu_mean_pct is not null), 0) as cpu_mean_pct,
        min(cpu_min_pct) as cpu_min_pct,
        max(cpu_max_pct) as cpu_max_pct,
        sum(disk_read_bytes)::double as disk_read_bytes,
        count(disk_read_bytes) as disk_read_count,
        sum(disk_write_bytes)::double as disk_write_bytes,
        count(disk_write_bytes) as disk_write_count,
        sum(net_external_sent_bytes)::double as net_sent_bytes,
        count(net_external_sent_bytes) as net_sent_count,
        sum(net_external_recv_bytes)::double as net_recv_bytes,
        count(net_external_recv_bytes) as net_recv_count
    from perf_report_node_sample
    group by
        run_id,
        artifact_manifest_digest,
        node_rank
),

stated as (
    select
        run_id,
        artifact_manifest_digest,
        node_rank,
        window_start,
        window_end,
        sample_count,
        unnest([
            {metric: 'cpu_util_pct', unit: '%', mean: cpu_mean_pct, least: cpu_min_pct, greatest: cpu_max_pct, delta: null},
            {
                metric: 'disk_read_bytes', unit: 'bytes', mean: null, least: null, greatest: null,
                delta: case when disk_read_count = baseline_count then disk_read_bytes end
            },
            {
                metric: 'disk_write_bytes', unit: 'bytes', mean: null, least: null, greatest: null,
                delta: case when disk_write_count = baseline_count then disk_write_bytes end
            },
            {
                metric: 'net_sent_bytes', unit: 'bytes', mean: null, least: null, greatest: null,
                delta: case when net_sent_count = baseline_count then net_sent_bytes end
            },
            {
                metric: 'net_recv_bytes', unit: 'bytes', mean: null, least: null, greatest: null,
                delta: case when net_recv_count = baseline_count then net_recv_bytes end
            }
        ]) as statistic
    from whole
)

select
    run_id,
    artifact_manifest_digest,
    'run' as window_kind,
    window_start,
    window_end,
    'node' as scope,
    'node ' || node_rank as scope_name,
    statistic.metric,
    statistic.unit,
    sample_count,
    statistic.mean as value_mean,
    statistic.least as value_min,
    statistic.greatest as value_max,
    statistic.delta as value_delta
from stated
where coalesce(statistic.mean, statistic.delta) is not null
