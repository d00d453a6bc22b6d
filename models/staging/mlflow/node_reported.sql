/*
description: >
  One row per run and node: the 18 metrics as perf.py reported them. Their step is the node's rank; without a step, in logs
  of one node, it is 0. Of values that were logged twice the last line counts.
grain: [run_id, artifact_manifest_digest, node_rank]
*/
select
    metric.run_id,
    metric.artifact_manifest_digest,
    coalesce(metric.step, 0) as node_rank,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'cpu_avg_utilization_over20_pct') as cpu_avg_utilization_over20_pct,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'cpu_avg_utilization_over40_pct') as cpu_avg_utilization_over40_pct,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'cpu_avg_utilization_over80_pct') as cpu_avg_utilization_over80_pct,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'cpu_avg_utilization_at100_pct') as cpu_avg_utilization_at100_pct,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'cpu_avg_utilization_pct') as cpu_avg_utilization_pct,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'node_cpu_hours') as node_cpu_hours,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'node_unused_cpu_hours') as node_unused_cpu_hours,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'total_disk_io_read_mb') as total_disk_io_read_mb,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'total_disk_io_write_mb') as total_disk_io_write_mb,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'total_net_io_lo_sent_mb') as total_net_io_lo_sent_mb,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'total_net_io_ext_sent_mb') as total_net_io_ext_sent_mb,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'total_net_io_lo_recv_mb') as total_net_io_lo_recv_mb,
    arg_max(metric.value, metric.line_number) filter (where metric.key = 'total_net_io_ext_recv_mb') as total_net_io_ext_recv_mb
from mlflow_metric as metric
inner join node_metric as known
    on known.metric = metric.key
group by
    metric.run_id,
    metric.artifact_manifest_digest,
    coalesce(metric.step, 0)
