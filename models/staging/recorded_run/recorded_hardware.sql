/*
description: >
  One row per recorded run: the machine it ran on.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    cast(1 as bigint) as node_count,
    gpu_model,
    gpu_count,
    numa_layout,
    cpu_model,
    logical_cores as cpu_logical_count,
    memory_bytes as host_memory_bytes
from recorded_run
