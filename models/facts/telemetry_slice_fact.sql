/*
description: >
  One row per run, time window and scope (node, channel, rank, request group, client, server): infrastructure and
  service metrics at reduced cardinality. Counters are deltas over the window. What was not exported is NULL. What a
  client saw of its requests in a window, and what a server reports about itself, are separate rows.
materialized: incremental
key: [run_id]
grain: [run_id, scope, scope_name, window_start]
collects: telemetry_slice
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  scope: {type: varchar, description: "What the window is about", tests: [not_null, {accepted_values: [node, channel, gpu, rank, pair, request, client, server]}]}
  scope_name: {type: varchar, description: "Which one, e.g. a host name or a channel; NULL if the run has only one"}
  node_name: {type: varchar, description: "The node, for a scope on one node"}
  gpu_uuid: {type: varchar, description: "The GPU, for a scope on one GPU"}
  rank_id: {type: bigint, description: "The rank, for a scope on one rank of a distributed job"}
  request_id: {type: varchar, description: "The request, for a scope on one request"}
  trace_id: {type: varchar, description: "The trace, for a scope on one request"}
  window_start: {type: timestamptz, unit: UTC, description: "Start of the window", tests: [not_null]}
  window_end: {type: timestamptz, unit: UTC, description: "End of the window"}
  duration_s: {type: double, unit: s, description: "Length of the window"}
  sample_count: {type: bigint, description: "Samples in the window"}
  cpu_util_mean_pct: {type: double, unit: "%", description: "CPU utilisation, mean over CPUs, weighted by time"}
  cpu_util_min_pct: {type: double, unit: "%", description: "CPU utilisation of the least busy CPU"}
  cpu_util_max_pct: {type: double, unit: "%", description: "CPU utilisation of the busiest CPU"}
  memory_used_bytes: {type: bigint, unit: bytes, description: "Host memory in use at the window's end"}
  gpu_util_pct: {type: double, unit: "%", description: "GPU utilisation"}
  gpu_clock_mhz: {type: double, unit: MHz, description: "GPU clock"}
  gpu_memory_used_bytes: {type: bigint, unit: bytes, description: "GPU memory in use"}
  power_w: {type: double, unit: W, description: "Power, mean over the window"}
  temperature_c: {type: double, unit: "°C", description: "Temperature"}
  pcie_width: {type: bigint, description: "PCIe lanes in use"}
  pcie_speed_gts: {type: double, unit: GT/s, description: "PCIe speed in use"}
  nvlink_error_count: {type: bigint, description: "NVLink errors in the window"}
  nic_loss_pct: {type: double, unit: "%", description: "Packets lost"}
  network_bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Collective bus bandwidth"}
  disk_read_bytes: {type: bigint, unit: bytes, description: "Read from disks in the window"}
  disk_write_bytes: {type: bigint, unit: bytes, description: "Written to disks in the window"}
  net_sent_bytes: {type: bigint, unit: bytes, description: "Sent over external interfaces in the window"}
  net_recv_bytes: {type: bigint, unit: bytes, description: "Received over external interfaces in the window"}
  storage_read_bytes_per_s: {type: double, unit: bytes/s, description: "Storage read throughput"}
  node_health: {type: varchar, description: "Node health as its monitor states it"}
  request_count: {type: bigint, description: "Requests of the window, as the client counts them"}
  request_throughput_per_s: {type: double, unit: 1/s, description: "Requests per second"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens per second"}
  total_token_throughput_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second"}
  ttft_mean_ms: {type: double, unit: ms, description: "Time to first token, mean"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token, p99"}
  tpot_mean_ms: {type: double, unit: ms, description: "Time per output token after the first, mean"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token after the first, p99"}
  e2e_mean_ms: {type: double, unit: ms, description: "End-to-end latency, mean"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency, p99"}
  requests_running: {type: double, description: "Requests that the server worked on, mean"}
  requests_waiting: {type: double, description: "Requests in the server's queue, mean"}
  kv_cache_used_pct: {type: double, unit: "%", description: "KV cache of the server in use, mean"}
  queue_wait_s: {type: double, unit: s, description: "Scheduler wait before quota"}
  admission_wait_s: {type: double, unit: s, description: "Scheduler wait from quota to start"}
*/
select slice.*
from feed.telemetry_slice as slice
inner join run_bundle
    on
        run_bundle.run_id = slice.run_id
        and run_bundle.artifact_manifest_digest = slice.artifact_manifest_digest
