/*
description: >
  One row per profile and kernel among those that took most of its time: ten of a trace. Copies and sets of memory count as
  kernels here. Times add up launches, so kernels that ran at once count twice.
materialized: incremental
key: [run_id]
grain: [run_id, raw_path, position]
collects: kernel_time
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The profile: a file in the bundle", tests: [not_null]}
  rank: {type: bigint, description: "The rank, for a profile of one"}
  position: {type: bigint, description: "Place by total time, from 1", tests: [not_null]}
  kernel: {type: varchar, description: "The kernel's name as written", tests: [not_null]}
  kind: {type: varchar, description: "What it does", tests: [{accepted_values: [compute, communication, memory]}]}
  launch_count: {type: bigint, description: "How often it ran"}
  total_s: {type: double, unit: s, description: "Time of all launches", tests: [{range: {min: 0}, severity: warn}]}
  longest_s: {type: double, unit: s, description: "Longest launch", tests: [{range: {min: 0}, severity: warn}]}
  sm_throughput_pct: {type: double, unit: "%", description: "Throughput of the SMs, of their peak, mean weighted by time; only Nsight Compute measures it"}
  memory_throughput_pct: {type: double, unit: "%", description: "Throughput of the memory pipes, likewise"}
  dram_throughput_pct: {type: double, unit: "%", description: "Throughput of device memory, likewise"}
  achieved_occupancy_pct: {type: double, unit: "%", description: "Active warps of those that an SM can hold, likewise"}
*/
select kernel.*
from feed.kernel_time as kernel
inner join run_bundle
    on
        run_bundle.run_id = kernel.run_id
        and run_bundle.artifact_manifest_digest = kernel.artifact_manifest_digest
