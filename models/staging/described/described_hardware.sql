/*
description: >
  One row per run of a described format: the hardware that it states.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    system_name,
    gpu_model,
    cpu_model,
    gpu_memory,
    host_memory,
    numa_layout,
    network_fabric,
    storage_fabric,
    node_count,
    gpu_count,
    cpu_logical_count,
    cpu_sockets_per_node,
    cpu_cores_per_socket,
    host_memory_bytes
from described_run
