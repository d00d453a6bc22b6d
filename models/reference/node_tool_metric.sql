/*
description: >
  One row per column of vmstat, iostat and pidstat that has a canonical metric. Their kilobytes are of 1,024 bytes (vmstat(8), iostat(1), pidstat(1)).
  vmstat's sizes are in a unit that its output does not show, so they have none.
grain: [source, source_metric]
feeds: telemetry_metric
*/
select
    source,
    source_metric,
    metric,
    unit,
    source_unit,
    kind,
    scope
from (
    values
    ('vmstat', 'r', 'task_running_count', 'count', 'count', 'gauge', 'node'),
    ('vmstat', 'b', 'task_blocked_count', 'count', 'count', 'gauge', 'node'),
    ('vmstat', 'us', 'cpu_user_pct', '%', '%', 'gauge', 'node'),
    ('vmstat', 'sy', 'cpu_system_pct', '%', '%', 'gauge', 'node'),
    ('vmstat', 'id', 'cpu_idle_pct', '%', '%', 'gauge', 'node'),
    ('vmstat', 'wa', 'cpu_io_wait_pct', '%', '%', 'gauge', 'node'),
    ('vmstat', 'st', 'cpu_steal_pct', '%', '%', 'gauge', 'node'),
    ('vmstat', 'in', 'interrupts_per_s', '1/s', '1/s', 'gauge', 'node'),
    ('vmstat', 'cs', 'context_switches_per_s', '1/s', '1/s', 'gauge', 'node'),
    ('iostat', 'avg-cpu/user', 'cpu_user_pct', '%', '%', 'gauge', 'node'),
    ('iostat', 'avg-cpu/system', 'cpu_system_pct', '%', '%', 'gauge', 'node'),
    ('iostat', 'avg-cpu/idle', 'cpu_idle_pct', '%', '%', 'gauge', 'node'),
    ('iostat', 'avg-cpu/iowait', 'cpu_io_wait_pct', '%', '%', 'gauge', 'node'),
    ('iostat', 'avg-cpu/steal', 'cpu_steal_pct', '%', '%', 'gauge', 'node'),
    ('iostat', 'disk/util', 'disk_util_pct', '%', '%', 'gauge', 'disk'),
    ('iostat', 'disk/r/s', 'disk_reads_per_s', '1/s', '1/s', 'gauge', 'disk'),
    ('iostat', 'disk/w/s', 'disk_writes_per_s', '1/s', '1/s', 'gauge', 'disk'),
    ('iostat', 'disk/rkB/s', 'disk_read_bytes_per_s', 'bytes/s', 'kib/s', 'gauge', 'disk'),
    ('iostat', 'disk/wkB/s', 'disk_write_bytes_per_s', 'bytes/s', 'kib/s', 'gauge', 'disk'),
    ('iostat', 'disk/r_await', 'disk_read_wait_ms', 'ms', 'ms', 'gauge', 'disk'),
    ('iostat', 'disk/w_await', 'disk_write_wait_ms', 'ms', 'ms', 'gauge', 'disk'),
    ('iostat', 'disk/aqu-sz', 'disk_queue_length', 'count', 'count', 'gauge', 'disk'),
    ('pidstat', '%usr', 'process_user_cpu_pct', '%', '%', 'gauge', 'process'),
    ('pidstat', '%system', 'process_system_cpu_pct', '%', '%', 'gauge', 'process'),
    ('pidstat', '%wait', 'process_runqueue_wait_pct', '%', '%', 'gauge', 'process'),
    ('pidstat', '%CPU', 'process_cpu_pct', '%', '%', 'gauge', 'process'),
    ('pidstat', 'minflt/s', 'process_minor_page_faults_per_s', '1/s', '1/s', 'gauge', 'process'),
    ('pidstat', 'majflt/s', 'process_major_page_faults_per_s', '1/s', '1/s', 'gauge', 'process'),
    ('pidstat', 'cswch/s', 'process_voluntary_switches_per_s', '1/s', '1/s', 'gauge', 'process'),
    ('pidstat', 'nvcswch/s', 'process_involuntary_switches_per_s', '1/s', '1/s', 'gauge', 'process'),
    ('pidstat', 'kB_rd/s', 'process_read_bytes_per_s', 'bytes/s', 'kib/s', 'gauge', 'process'),
    ('pidstat', 'kB_wr/s', 'process_write_bytes_per_s', 'bytes/s', 'kib/s', 'gauge', 'process'),
    ('pidstat', 'RSS', 'process_rss_bytes', 'bytes', 'kib', 'gauge', 'process')
) as known (source, source_metric, metric, unit, source_unit, kind, scope)
