/*
description: >
  One row per bundle: the system description and the weight data types. Blank, N/A and the like are NULL.
grain: [artifact_manifest_digest]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  system_name: {type: varchar, description: "System name"}
  status: {type: varchar, description: "Availability: available, preview, rdi"}
  system_type: {type: varchar, description: "datacenter, edge or both"}
  submitter: {type: varchar, description: "Submitter as the document states it; the path takes precedence"}
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
  host_networking: {type: varchar, description: "Network"}
  host_network_card_count: {type: varchar, description: "Network cards"}
  host_storage_type: {type: varchar, description: "Storage type"}
  host_storage_capacity: {type: varchar, description: "Storage capacity"}
  framework: {type: varchar, description: "Framework string: components with versions, comma-separated"}
  other_software_stack: {type: varchar, description: "More software"}
  operating_system: {type: varchar, description: "Operating system"}
  weight_data_types: {type: varchar, description: "Precision of the weights as written"}
*/
with statement as (
    select
        artifact_manifest_digest,
        source,
        key,
        case when lower(trim(value)) not in ('', '-', 'n/a', 'na', 'none', 'null', 'unknown', 'tbd') then value end as stated,
        case when value_number = floor(value_number) and abs(value_number) < 1e15 then value_number::bigint end as whole_number
    from mlperf_inference_entry
    where source in ('system', 'measurement')
)

select
    artifact_manifest_digest,
    max(stated) filter (where source = 'system' and key = 'system_name') as system_name,
    max(stated) filter (where source = 'system' and key = 'status') as status,
    max(stated) filter (where source = 'system' and key = 'system_type') as system_type,
    max(stated) filter (where source = 'system' and key = 'submitter') as submitter,
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
    max(stated) filter (where source = 'system' and key = 'host_network_card_count') as host_network_card_count,
    max(stated) filter (where source = 'system' and key = 'host_storage_type') as host_storage_type,
    max(stated) filter (where source = 'system' and key = 'host_storage_capacity') as host_storage_capacity,
    max(stated) filter (where source = 'system' and key = 'framework') as framework,
    max(stated) filter (where source = 'system' and key = 'other_software_stack') as other_software_stack,
    max(stated) filter (where source = 'system' and key = 'operating_system') as operating_system,
    max(stated) filter (where source = 'measurement' and key = 'weight_data_types') as weight_data_types
from statement
group by artifact_manifest_digest
