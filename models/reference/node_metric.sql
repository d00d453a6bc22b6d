/*
description: >
  One row per metric that lightgbm-benchmark's perf.py reports of a node: what it means there, and what
  node_performance has under the same name.
grain: [metric]
columns:
  metric: {type: varchar, description: "The metric, as MLflow has it", tests: [not_null, unique]}
  reported: {type: varchar, description: "What perf.py computes", tests: [not_null]}
  computed: {type: varchar, description: "What node_performance computes", tests: [not_null]}
*/
select
    metric,
    reported,
    computed
from (
    values
    ('cpu_avg_utilization_over20_pct', 'Share of samples in which the mean over CPUs is at least 20 %', 'Share of time in which every CPU is used more than 20 %'),
    ('cpu_avg_utilization_over40_pct', 'Share of samples in which the mean over CPUs is at least 40 %', 'Share of time in which every CPU is used more than 40 %'),
    ('cpu_avg_utilization_over80_pct', 'Share of samples in which the mean over CPUs is at least 80 %', 'Share of time in which every CPU is used more than 80 %'),
    ('cpu_avg_utilization_at100_pct', 'Share of samples in which the mean over CPUs is 100 %', 'Share of time in which every CPU is fully used'),
    ('cpu_avg_utilization_pct', 'Plain mean over samples', 'Mean over time'),
    ('max_t_cpu_pct_per_cpu_avg', 'Largest mean over CPUs of a sample', 'The same'),
    ('max_t_cpu_pct_per_cpu_min', 'Largest use of the least used CPU of a sample', 'The same'),
    ('max_t_cpu_pct_per_cpu_max', 'Largest use of the most used CPU of a sample', 'The same'),
    ('node_cpu_hours', 'From the first sample to the report, times the CPUs of the reporting host', 'Time that the samples cover, times the CPUs of the node'),
    ('node_unused_cpu_hours', 'That, times the unused share by the plain mean', 'That, times the unused share over time'),
    ('max_t_mem_percent', 'Largest use of memory', 'The same'),
    ('max_t_disk_usage_percent', 'Largest use of the root file system', 'The same'),
    ('total_disk_io_read_mb', 'Largest counter since boot', 'Read between the first and last sample'),
    ('total_disk_io_write_mb', 'Largest counter since boot', 'Written between the first and last sample'),
    ('total_net_io_lo_sent_mb', 'Largest counter since boot', 'Sent between the first and last sample, loopback'),
    ('total_net_io_ext_sent_mb', 'Largest counter since boot', 'Sent between the first and last sample, other interfaces'),
    ('total_net_io_lo_recv_mb', 'Largest counter since boot', 'Received between the first and last sample, loopback'),
    ('total_net_io_ext_recv_mb', 'Largest counter since boot', 'Received between the first and last sample, other interfaces')
) as known (metric, reported, computed)
