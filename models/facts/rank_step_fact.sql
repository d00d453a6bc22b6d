/*
description: >
  One row per rank of a distributed run and step, and per rank for the whole of what was traced of it (step is NULL). Times
  on the GPU are unions of intervals over all streams: two kernels at once count once. What was not recorded is NULL.
materialized: incremental
key: [run_id]
grain: [run_id, raw_path, rank, step]
collects: rank_step
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The trace: a file in the bundle", tests: [not_null]}
  rank: {type: bigint, description: "The rank; NULL: the run has one process, or the trace does not say"}
  step: {type: bigint, description: "The step, as the program numbers it; NULL: the whole trace"}
  node_name: {type: varchar, description: "The rank's node"}
  gpu_uuid: {type: varchar, description: "The rank's GPU"}
  started_at: {type: timestamptz, unit: UTC, description: "Start of the step, or of the trace"}
  step_time_s: {type: double, unit: s, description: "Length of the step on the host, or of the trace", tests: [{range: {min: 0}, severity: warn}]}
  compute_s: {type: double, unit: s, description: "Time with a kernel that does not communicate", tests: [{range: {min: 0}, severity: warn}]}
  communication_s: {type: double, unit: s, description: "Time with a kernel that communicates (NCCL, RCCL and the like); it includes waiting for other ranks", tests: [{range: {min: 0}, severity: warn}]}
  overlap_s: {type: double, unit: s, description: "Time with both", tests: [{range: {min: 0}, severity: warn}]}
  idle_s: {type: double, unit: s, description: "Time without any activity on the GPU", tests: [{range: {min: 0}, severity: warn}]}
  memcpy_s: {type: double, unit: s, description: "Time in which memory is copied or set", tests: [{range: {min: 0}, severity: warn}]}
  dataloader_s: {type: double, unit: s, description: "Time in which the host waits for the data loader; NULL: it is not annotated", tests: [{range: {min: 0}, severity: warn}]}
  kernel_count: {type: bigint, description: "Kernels that began"}
*/
select step.*
from feed.rank_step as step
inner join run_bundle
    on
        run_bundle.run_id = step.run_id
        and run_bundle.artifact_manifest_digest = step.artifact_manifest_digest
