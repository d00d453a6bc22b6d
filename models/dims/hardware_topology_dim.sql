/*
description: >
  One row per unique combination of hardware and topology that a run states. What a run does not state is NULL.
  gpu_model is the accelerator as written; the accelerator columns identify it by the rules of
  staging.accelerator_rule.
grain: [hardware_topology_key]
columns:
  hardware_topology_key: {type: varchar, description: "Digest of what is stated", tests: [not_null, unique]}
  system_name: {type: varchar, description: "The system as its owner names it"}
  node_count: {type: bigint, description: "Nodes"}
  gpu_model: {type: varchar, description: "Accelerator model as written; NULL for a system without one"}
  gpu_count: {type: bigint, description: "Accelerators in all nodes; NULL where unknown"}
  gpus_per_node: {type: bigint, description: "Accelerators per node"}
  gpu_memory: {type: varchar, description: "Accelerator memory as written"}
  pcie_layout: {type: varchar, description: "How accelerators are connected to the host"}
  nvlink_topology: {type: varchar, description: "How accelerators are connected to each other"}
  gpu_nic_affinity: {type: varchar, description: "Which NIC is near which accelerator"}
  numa_layout: {type: varchar, description: "NUMA nodes and what belongs to them"}
  nic: {type: varchar, description: "Network cards and their number, as written"}
  network_fabric: {type: varchar, description: "The network between nodes, as written"}
  storage_fabric: {type: varchar, description: "Storage as written"}
  cpu_model: {type: varchar, description: "Host processor model"}
  cpu_sockets_per_node: {type: bigint, description: "Host processors per node"}
  cpu_cores_per_socket: {type: bigint, description: "Physical cores per host processor"}
  cpu_logical_count: {type: bigint, description: "Logical CPUs the operating system sees"}
  host_memory: {type: varchar, description: "Host memory as written"}
  host_memory_bytes: {type: bigint, unit: bytes, description: "Host memory where it was measured"}
  accelerator_vendor: {type: varchar, description: "Who makes the accelerator; NULL if no rule has its name"}
  accelerator_family: {type: varchar, description: "The accelerator's model without form factor and memory: H100"}
  accelerator_form_factor: {type: varchar, description: "SXM, PCIe, NVL, OAM, superchip and so on; NULL where it is not known"}
  accelerator_memory_gb: {type: bigint, unit: GB, description: "Memory of one accelerator as its maker names the product; NULL where it is not known"}
  accelerator_name: {type: varchar, description: "One name for all spellings of gpu_model: the family, and the form factor and memory where it has several; NULL where no rule knows the product, or it is a part of one"}
  accelerator_reason: {type: varchar, description: "Why the product is not known (staging.named_accelerator); NULL: it is known, or no text names one"}
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
