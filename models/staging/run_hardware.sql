/*
description: >
  One row per run and bundle that states hardware; the key is a digest of what is stated, nothing else.
grain: [run_id, artifact_manifest_digest]
collects: hardware_topology
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  system_name: {type: varchar, description: "The system as its owner names it"}
  node_count: {type: bigint, description: "Nodes"}
  gpu_model: {type: varchar, description: "Accelerator model as written; NULL for a system without one"}
  gpu_count: {type: bigint, description: "Accelerators in all nodes; NULL where unknown"}
  gpus_per_node: {type: bigint, description: "Accelerators per node"}
  gpu_memory: {type: varchar, description: "Accelerator memory as written"}
  pcie_layout: {type: varchar, description: "How accelerators meet the host"}
  nvlink_topology: {type: varchar, description: "How accelerators meet each other"}
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
  hardware_topology_key: {type: varchar, description: "Digest of the columns above; NULL when nothing is stated", feed: false}
*/
with stated as (
    select
        *,
        to_json([
            system_name, node_count::varchar, gpu_model, gpu_count::varchar, gpus_per_node::varchar, gpu_memory,
            pcie_layout, nvlink_topology, gpu_nic_affinity, numa_layout, nic, network_fabric, storage_fabric, cpu_model,
            cpu_sockets_per_node::varchar, cpu_cores_per_socket::varchar, cpu_logical_count::varchar, host_memory,
            host_memory_bytes::varchar
        ])::varchar as attributes,
        coalesce(
            system_name, node_count::varchar, gpu_model, gpu_count::varchar, gpus_per_node::varchar, gpu_memory,
            pcie_layout, nvlink_topology, gpu_nic_affinity, numa_layout, nic, network_fabric, storage_fabric, cpu_model,
            cpu_sockets_per_node::varchar, cpu_cores_per_socket::varchar, cpu_logical_count::varchar, host_memory,
            host_memory_bytes::varchar
        ) is not null as is_stated
    from feed.hardware_topology
)

select
    * exclude (attributes, is_stated),
    case when is_stated then left(sha256(attributes), 32) end as hardware_topology_key
from stated
