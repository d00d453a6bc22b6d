/*
description: >
  One row per test of a cluster run whose nodes are described: what all of them have in common.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
with common as (
    select
        member.run_id,
        member.artifact_manifest_digest,
        if(min(node.gpu_model) = max(node.gpu_model), min(node.gpu_model), null) as gpu_model,
        if(min(node.gpu_count) = max(node.gpu_count), min(node.gpu_count), null) as gpus_per_node,
        if(count(*) = count(node.gpu_count), try_cast(sum(node.gpu_count order by node.gpu_count) as bigint), null) as node_gpu_count,
        if(min(node.nvlink_topology) = max(node.nvlink_topology), min(node.nvlink_topology), null) as nvlink_topology,
        if(min(node.numa_layout) = max(node.numa_layout), min(node.numa_layout), null) as numa_layout,
        if(min(node.network_fabric) = max(node.network_fabric), min(node.network_fabric), null) as network_fabric,
        if(min(node.cpu_model) = max(node.cpu_model), min(node.cpu_model), null) as cpu_model,
        if(min(node.cpu_sockets) = max(node.cpu_sockets), min(node.cpu_sockets), null) as cpu_sockets_per_node,
        if(min(node.cpu_cores_per_socket) = max(node.cpu_cores_per_socket), min(node.cpu_cores_per_socket), null) as cpu_cores_per_socket,
        if(min(node.cpu_logical_count) = max(node.cpu_logical_count), min(node.cpu_logical_count), null) as cpu_logical_count,
        if(min(node.host_memory) = max(node.host_memory), min(node.host_memory), null) as host_memory
    from aisp_run_node as member
    left join aisp_node as node
        on
            node.artifact_manifest_digest = member.artifact_manifest_digest
            and node.node = member.node
    group by
        member.run_id,
        member.artifact_manifest_digest
    having count(node.node) > 0
),

served as (
    select
        run_id,
        artifact_manifest_digest,
        if(min(tensor_parallel) = max(tensor_parallel), min(tensor_parallel), null) as tensor_parallel
    from aisp_serving_point
    group by
        run_id,
        artifact_manifest_digest
)

select
    common.run_id,
    common.artifact_manifest_digest,
    run.node_count,
    common.gpu_model,
    coalesce(served.tensor_parallel, run.rank_count, if(run.gpu is not null, 1, null), common.node_gpu_count) as gpu_count,
    common.gpus_per_node,
    common.nvlink_topology,
    common.numa_layout,
    common.network_fabric,
    common.cpu_model,
    common.cpu_sockets_per_node,
    common.cpu_cores_per_socket,
    common.cpu_logical_count,
    common.host_memory
from common
inner join aisp_run as run
    on
        run.run_id = common.run_id
        and run.artifact_manifest_digest = common.artifact_manifest_digest
left join served
    on
        served.run_id = common.run_id
        and served.artifact_manifest_digest = common.artifact_manifest_digest
