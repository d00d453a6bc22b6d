/*
description: >
  One row per recorded run, node and metric of the node over the whole run. Utilisation is weighted by each sample's duration,
  because samples are not evenly spaced; counters are summed deltas from a baseline taken before the start.
grain: [run_id, artifact_manifest_digest, metric]
feeds: telemetry_slice
*/
with whole as (
    select
        sample.run_id,
        sample.artifact_manifest_digest,
        min(run.hostname) as node_name,
        bool_or(run.is_part) as is_part,
        min(sample.window_start) as window_start,
        max(sample.window_end) as window_end,
        count(*) as sample_count,
        sum(sample.cpu_mean_pct * sample.duration_s) / sum(sample.duration_s) filter (where sample.cpu_mean_pct is not null) as cpu_mean_pct,
        min(sample.cpu_min_pct) as cpu_min_pct,
        max(sample.cpu_max_pct) as cpu_max_pct,
        arg_max(sample.memory_used_bytes, sample.window_end)::double as memory_used_bytes,
        sum(sample.disk_read_bytes)::double as disk_read_bytes,
        sum(sample.disk_write_bytes)::double as disk_write_bytes,
        sum(sample.net_external_sent_bytes)::double as net_sent_bytes,
        sum(sample.net_external_recv_bytes)::double as net_recv_bytes
    from recorded_host_sample as sample
    inner join recorded_node as run
        on
            run.run_id = sample.run_id
            and run.artifact_manifest_digest = sample.artifact_manifest_digest
    where sample.window_start is not null
    group by
        sample.run_id,
        sample.artifact_manifest_digest
),

stated as (
    select
        run_id,
        artifact_manifest_digest,
        node_name,
        is_part,
        window_start,
        window_end,
        sample_count,
        unnest([
            {metric: 'cpu_util_pct', unit: '%', mean: cpu_mean_pct, least: cpu_min_pct, greatest: cpu_max_pct, last: null, delta: null},
            {metric: 'memory_used_bytes', unit: 'bytes', mean: null, least: null, greatest: null, last: memory_used_bytes, delta: null},
            {metric: 'disk_read_bytes', unit: 'bytes', mean: null, least: null, greatest: null, last: null, delta: disk_read_bytes},
            {metric: 'disk_write_bytes', unit: 'bytes', mean: null, least: null, greatest: null, last: null, delta: disk_write_bytes},
            {metric: 'net_sent_bytes', unit: 'bytes', mean: null, least: null, greatest: null, last: null, delta: net_sent_bytes},
            {metric: 'net_recv_bytes', unit: 'bytes', mean: null, least: null, greatest: null, last: null, delta: net_recv_bytes}
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
    node_name,
    statistic.metric,
    statistic.unit,
    sample_count,
    statistic.mean as value_mean,
    statistic.least as value_min,
    statistic.greatest as value_max,
    statistic.last as value_last,
    statistic.delta as value_delta,
    -- A node's recording is a bundle of its own, which names the run.
    case when is_part then 'run_id' end as join_method,
    case when is_part then 'stated' end as join_confidence
from stated
where coalesce(statistic.mean, statistic.last, statistic.delta) is not null
