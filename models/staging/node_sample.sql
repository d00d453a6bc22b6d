/*
description: >
  One row per run, node and sample of the node: use of CPU, memory and disk in a window, and traffic in it. Counters are
  deltas over the window; NULL where the window has no baseline, or a counter began anew in it.
collects: node_sample
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  node_rank: {type: bigint, description: "The node's rank in the run; 0 for a run on one node", tests: [not_null]}
  node_name: {type: varchar, description: "The node; NULL where the evidence does not say"}
  window_start: {type: timestamptz, unit: UTC, description: "Start of the window", tests: [not_null]}
  window_end: {type: timestamptz, unit: UTC, description: "End of the window", tests: [not_null]}
  duration_s: {type: double, unit: s, description: "Length of the window: the weight of its values", tests: [{range: {min: 0}}]}
  cpu_duration_s: {type: double, unit: s, description: "How much of the window the use of CPU was observed in"}
  has_baseline: {type: boolean, description: "Whether counters were read at the window's start", tests: [not_null]}
  cpu_count: {type: bigint, description: "Logical CPUs of the node; NULL where the evidence does not say"}
  cpu_mean_pct: {type: double, unit: "%", description: "Use of CPU, mean over CPUs"}
  cpu_min_pct: {type: double, unit: "%", description: "Use of the least used CPU"}
  cpu_max_pct: {type: double, unit: "%", description: "Use of the most used CPU"}
  memory_pct: {type: double, unit: "%", description: "Memory that is not available, of all memory"}
  disk_usage_pct: {type: double, unit: "%", description: "Use of the root file system"}
  disk_read_bytes: {type: bigint, unit: bytes, description: "Read from disks"}
  disk_write_bytes: {type: bigint, unit: bytes, description: "Written to disks"}
  net_loopback_sent_bytes: {type: bigint, unit: bytes, description: "Sent over loopback"}
  net_external_sent_bytes: {type: bigint, unit: bytes, description: "Sent over other interfaces"}
  net_loopback_recv_bytes: {type: bigint, unit: bytes, description: "Received over loopback"}
  net_external_recv_bytes: {type: bigint, unit: bytes, description: "Received over other interfaces"}
  disk_read_counter_mib: {type: double, unit: MiB, description: "Counter since boot, where the evidence states it: read"}
  disk_write_counter_mib: {type: double, unit: MiB, description: "Written"}
  net_loopback_sent_counter_mib: {type: double, unit: MiB, description: "Sent over loopback"}
  net_external_sent_counter_mib: {type: double, unit: MiB, description: "Sent over other interfaces"}
  net_loopback_recv_counter_mib: {type: double, unit: MiB, description: "Received over loopback"}
  net_external_recv_counter_mib: {type: double, unit: MiB, description: "Received over other interfaces"}
*/
select *
from feed.node_sample
