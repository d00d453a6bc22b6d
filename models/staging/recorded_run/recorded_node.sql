/*
description: >
  One row per recorded run and node that it ran on: the run's own row, or, where a launcher started it on several nodes, the row of each node's
  recording. The host of a launcher is a node only if it has a recording of its own.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle of the node's recording", tests: [not_null]}
  is_part: {type: boolean, description: "Whether the recording is a part of a run on several nodes", tests: [not_null]}
  node_rank: {type: bigint, description: "The node's rank in the run; 0 for a run on one node; where the launcher states none, its place by name"}
  hostname: {type: varchar, description: "The node"}
  logical_cores: {type: bigint, description: "Its logical CPUs"}
  memory_bytes: {type: bigint, unit: bytes, description: "Its memory"}
  gpu_model: {type: varchar, description: "Its GPUs; several models with +"}
  gpu_count: {type: bigint, description: "How many GPUs it has; NULL: it has no driver"}
  numa_layout: {type: varchar, description: "Its NUMA nodes and their CPUs"}
  cpu_model: {type: varchar, description: "Its CPU"}
  wall_s: {type: double, unit: s, description: "How long the command ran on it"}
  user_cpu_s: {type: double, unit: s, description: "CPU time of the command on it in user mode"}
  system_cpu_s: {type: double, unit: s, description: "CPU time of the command on it in the kernel"}
  host_sampled_s: {type: double, unit: s, description: "How long it was sampled"}
  node_sampled_s: {type: double, unit: s, description: "How long its kernel's counters were sampled"}
  cpu_pressure_s: {type: double, unit: s, description: "How long tasks waited for a CPU"}
  cgroup_cpu_periods: {type: double, description: "Scheduling periods of its control group"}
  cgroup_throttled_periods: {type: double, description: "How many of them its limit stopped the run in"}
  gpu_sampled_s: {type: double, unit: s, description: "How long its GPUs were sampled"}
  gpu_slowdown_s: {type: double, unit: s, description: "How long heat or the power brake slowed one of them down"}
  gpu_error_count: {type: double, description: "Memory errors of a GPU that it could not correct"}
  server_cpu_cores: {type: double, description: "Cores that the server on it used which the command talks to"}
  is_server_on_host: {type: boolean, description: "Whether the command talks to a server on it"}
  ended_by_limit: {type: varchar, description: "The limit that ended the command on it, of a part of a run; NULL: none"}
*/
select
    run_id,
    artifact_manifest_digest,
    false as is_part,
    0::bigint as node_rank,
    hostname,
    logical_cores,
    memory_bytes,
    gpu_model,
    gpu_count,
    numa_layout,
    cpu_model,
    wall_s,
    user_cpu_s,
    system_cpu_s,
    host_sampled_s,
    node_sampled_s,
    cpu_pressure_s,
    cgroup_cpu_periods,
    cgroup_throttled_periods,
    gpu_sampled_s,
    gpu_slowdown_s,
    gpu_error_count,
    server_cpu_cores,
    is_server_on_host,
    null::varchar as ended_by_limit
from recorded_run
where launched_nodes is null
union all
select
    run_id,
    artifact_manifest_digest,
    true as is_part,
    coalesce(node_rank, row_number() over (partition by run_id order by hostname, artifact_manifest_digest) - 1) as node_rank,
    hostname,
    logical_cores,
    memory_bytes,
    gpu_model,
    gpu_count,
    numa_layout,
    cpu_model,
    wall_s,
    user_cpu_s,
    system_cpu_s,
    host_sampled_s,
    node_sampled_s,
    cpu_pressure_s,
    cgroup_cpu_periods,
    cgroup_throttled_periods,
    gpu_sampled_s,
    gpu_slowdown_s,
    gpu_error_count,
    server_cpu_cores,
    is_server_on_host,
    ended_by_limit
from recorded_node_run
