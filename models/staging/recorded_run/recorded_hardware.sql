/*
description: >
  One row per recorded run: the machine it ran on, or the machines of several nodes, where what they do not share is NULL.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    cast(1 as bigint) as node_count,
    gpu_model,
    gpu_count,
    numa_layout,
    cpu_model,
    logical_cores as cpu_logical_count,
    memory_bytes as host_memory_bytes
from recorded_run
where launched_nodes is null
union all
select
    run.run_id,
    run.artifact_manifest_digest,
    count(*) as node_count,
    case when count(distinct node.gpu_model) = 1 then min(node.gpu_model) end as gpu_model,
    case when count(node.gpu_count) = count(*) then sum(node.gpu_count order by node.gpu_count)::bigint end as gpu_count,
    case when count(distinct node.numa_layout) = 1 then min(node.numa_layout) end as numa_layout,
    case when count(distinct node.cpu_model) = 1 then min(node.cpu_model) end as cpu_model,
    case when count(distinct node.logical_cores) = 1 then min(node.logical_cores) end as cpu_logical_count,
    case when count(distinct node.memory_bytes) = 1 then min(node.memory_bytes) end as host_memory_bytes
from recorded_node_run as node
inner join recorded_run as run
    on run.run_id = node.run_id
where run.launched_nodes is not null
group by
    run.run_id,
    run.artifact_manifest_digest
