/*
description: >
  One row per run: the GPUs and nodes that its log names.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    node_count,
    gpu_model,
    gpu_count,
    case when gpu_count % node_count = 0 then gpu_count // node_count end as gpus_per_node,
    'GPUs at ' || gpu_bus_ids as pcie_layout
from fabric_check_run
