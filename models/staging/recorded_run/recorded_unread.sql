/*
description: >
  One row per recorded run and thing that its recorder could not read, such as the clocks of the CPUs on a virtual machine. A check that lacks it
  says so.
grain: [run_id, artifact_manifest_digest, source]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  source: {type: varchar, description: "What could not be read: pressure, cpu_clock, cgroup, process_io, runqueue_wait, infiniband, numa_placement, memory_bandwidth, gpu or gpu_activity", tests: [not_null]}
  reason: {type: varchar, description: "Why, in the recorder's words", tests: [not_null]}
*/
select
    run_id,
    artifact_manifest_digest,
    entry.key as source,
    entry.value as reason
from (
    select
        run_id,
        artifact_manifest_digest,
        unnest(map_entries(unread::json::map(varchar, varchar))) as entry
    from recorded_run
    where unread is not null
)
