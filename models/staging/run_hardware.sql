/*
description: >
  One row per run and bundle that states hardware. The key is a digest of what is stated.
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
  accelerator_vendor: {feed: false}
  accelerator_family: {feed: false}
  accelerator_form_factor: {feed: false}
  accelerator_memory_gb: {type: bigint, unit: GB, description: "Memory of one accelerator as its maker names the product; NULL where it is not known", feed: false}
  accelerator_name: {feed: false}
  accelerator_reason: {type: varchar, description: "Why the product is not known (staging.named_accelerator); NULL: it is known, or no text names one", feed: false}
  hardware_topology_key: {type: varchar, description: "Digest of what is stated, the columns that feeders fill; NULL when nothing is stated", feed: false}
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
    stated.* exclude (attributes, is_stated),
    named.accelerator_vendor,
    named.accelerator_family,
    named.accelerator_form_factor,
    named.accelerator_memory_gb,
    named.accelerator_name,
    named.accelerator_reason,
    case when stated.is_stated then left(sha256(stated.attributes), 32) end as hardware_topology_key
from stated
left join named_accelerator as named
    on
        named.artifact_manifest_digest = stated.artifact_manifest_digest
        and named.stated_by = stated.run_id
