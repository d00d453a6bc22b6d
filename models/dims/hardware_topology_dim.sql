/*
description: >
  One row per unique combination of hardware and topology that a run states. What a run does not state is NULL.
  gpu_model is the accelerator as written; the accelerator columns identify it by the rules of
  staging.accelerator_rule.
grain: [hardware_topology_key]
columns:
  hardware_topology_key: {tests: [not_null, unique]}
*/
select
    hardware_topology_key,
    system_name,
    node_count,
    gpu_model,
    gpu_count,
    gpus_per_node,
    gpu_memory,
    pcie_layout,
    nvlink_topology,
    gpu_nic_affinity,
    numa_layout,
    nic,
    network_fabric,
    storage_fabric,
    cpu_model,
    cpu_sockets_per_node,
    cpu_cores_per_socket,
    cpu_logical_count,
    host_memory,
    host_memory_bytes,
    accelerator_vendor,
    accelerator_family,
    accelerator_form_factor,
    accelerator_memory_gb,
    accelerator_name,
    accelerator_reason
from run_hardware
where hardware_topology_key is not null
group by all
