/*
description: >
  One row per result that describes its machine. The number of CPUs is the host's; the limit of the run is the condition
  run__requests__cpu.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    cast(1 as bigint) as node_count,
    cpu_model,
    cpu_count as cpu_logical_count
from thoth_run
where cpu_model is not null or cpu_count is not null
