/*
description: >
  One row per bundle: its scaling factor and what the system description states. Blank, N/A and the like are NULL.
grain: [artifact_manifest_digest]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  scaling_factor: {type: double, description: "The factor by which the RCP checker multiplies the result: 1 without a scaling.json; NULL: the file has no factor that can be read"}
  system_name: {type: varchar, description: "System name"}
  availability: {type: varchar, description: "Availability as written"}
  division: {type: varchar, description: "Division"}
  accelerator_model_name: {type: varchar, description: "Accelerator"}
  accelerators_per_node: {type: bigint, description: "As stated; NULL if it is not a whole number"}
  number_of_nodes: {type: bigint, description: "As stated; NULL if it is not a whole number"}
  accelerator_memory_capacity: {type: varchar, description: "Accelerator memory"}
  accelerator_interconnect: {type: varchar, description: "How accelerators are connected to each other"}
  accelerator_host_interconnect: {type: varchar, description: "How accelerators are connected to the host"}
  host_processor_model_name: {type: varchar, description: "Host processor"}
  host_processors_per_node: {type: bigint, description: "As stated; NULL if it is not a whole number"}
  host_processor_core_count: {type: bigint, description: "As stated; NULL if it is not a whole number"}
  host_memory_capacity: {type: varchar, description: "Host memory"}
  host_networking: {type: varchar, description: "Network cards"}
  host_networking_topology: {type: varchar, description: "Network between nodes"}
  host_storage_type: {type: varchar, description: "Storage type"}
  host_storage_capacity: {type: varchar, description: "Storage capacity"}
  framework: {type: varchar, description: "Framework string"}
  other_software_stack: {type: varchar, description: "More software, where it is one text or a list"}
  operating_system: {type: varchar, description: "Operating system"}
  cuda_version: {type: varchar, description: "CUDA"}
  rocm_version: {type: varchar, description: "ROCm"}
  nccl_version: {type: varchar, description: "NCCL or RCCL"}
  driver_version: {type: varchar, description: "Kernel driver of the accelerator, else the driver"}
  kernel_version: {type: varchar, description: "Kernel"}
*/
with statement as (
    select
        artifact_manifest_digest,
        source,
        lower(key) as key,
        case when lower(trim(value)) not in ('', '-', 'n/a', 'na', 'none', 'null', 'unknown', 'tbd') then trim(value) end as stated,
        value_number,
        case when value_number = floor(value_number) and abs(value_number) < 1e15 then value_number::bigint end as whole_number
    from mlperf_training_entry
)

select
    artifact_manifest_digest,
    case
        when count(*) filter (where source = 'scaling') = 0 then 1
        else max(value_number) filter (where source = 'scaling' and key = 'scaling_factor' and value_number > 0)
    end as scaling_factor,
    max(stated) filter (where source = 'system' and key = 'system_name') as system_name,
    max(stated) filter (where source = 'system' and key = 'status') as availability,
    max(stated) filter (where source = 'system' and key = 'division') as division,
    max(stated) filter (where source = 'system' and key = 'accelerator_model_name') as accelerator_model_name,
    max(whole_number) filter (where source = 'system' and key = 'accelerators_per_node') as accelerators_per_node,
    max(whole_number) filter (where source = 'system' and key = 'number_of_nodes') as number_of_nodes,
    max(stated) filter (where source = 'system' and key = 'accelerator_memory_capacity') as accelerator_memory_capacity,
    max(stated) filter (where source = 'system' and key = 'accelerator_interconnect') as accelerator_interconnect,
    max(stated) filter (where source = 'system' and key = 'accelerator_host_interconnect') as accelerator_host_interconnect,
    max(stated) filter (where source = 'system' and key = 'host_processor_model_name') as host_processor_model_name,
    max(whole_number) filter (where source = 'system' and key = 'host_processors_per_node') as host_processors_per_node,
    max(whole_number) filter (where source = 'system' and key = 'host_processor_core_count') as host_processor_core_count,
    max(stated) filter (where source = 'system' and key = 'host_memory_capacity') as host_memory_capacity,
    max(stated) filter (where source = 'system' and key = 'host_networking') as host_networking,
    max(stated) filter (where source = 'system' and key = 'host_networking_topology') as host_networking_topology,
    max(stated) filter (where source = 'system' and key = 'host_storage_type') as host_storage_type,
    max(stated) filter (where source = 'system' and key = 'host_storage_capacity') as host_storage_capacity,
    max(stated) filter (where source = 'system' and key = 'framework') as framework,
    max(stated) filter (where source = 'system' and key = 'other_software_stack') as other_software_stack,
    max(stated) filter (where source = 'system' and key = 'operating_system') as operating_system,
    max(stated) filter (where source = 'system' and key = 'other_software_stack/cuda_version') as cuda_version,
    max(stated) filter (where source = 'system' and key = 'other_software_stack/rocm_version') as rocm_version,
    max(stated) filter (where source = 'system' and key in ('other_software_stack/nccl_version', 'other_software_stack/rccl_version')) as nccl_version,
    coalesce(
        max(stated) filter (where source = 'system' and key = 'other_software_stack/nvidia_kernel_driver'),
        max(stated) filter (where source = 'system' and key = 'other_software_stack/cuda_driver_version')
    ) as driver_version,
    max(stated) filter (where source = 'system' and key = 'other_software_stack/kernel_version') as kernel_version
from statement
group by artifact_manifest_digest
