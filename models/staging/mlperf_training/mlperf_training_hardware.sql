/*
description: >
  One row per run: the hardware that its system description states.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    system.system_name,
    system.number_of_nodes as node_count,
    system.accelerator_model_name as gpu_model,
    system.number_of_nodes * system.accelerators_per_node as gpu_count,
    system.accelerators_per_node as gpus_per_node,
    system.accelerator_memory_capacity as gpu_memory,
    system.accelerator_host_interconnect as pcie_layout,
    system.accelerator_interconnect as nvlink_topology,
    system.host_networking as nic,
    system.host_networking_topology as network_fabric,
    nullif(concat_ws(', ', system.host_storage_type, system.host_storage_capacity), '') as storage_fabric,
    system.host_processor_model_name as cpu_model,
    system.host_processors_per_node as cpu_sockets_per_node,
    system.host_processor_core_count as cpu_cores_per_socket,
    system.host_memory_capacity as host_memory
from mlperf_training_run as run
inner join mlperf_training_system as system
    on system.artifact_manifest_digest = run.artifact_manifest_digest
