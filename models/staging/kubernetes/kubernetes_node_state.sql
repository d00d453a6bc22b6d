/*
description: >
  One row per node in a listing of Kubernetes.
feeds: node_state
*/
with ready as (
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        max(heartbeat_at) as heartbeat_at,
        max(status) as status,
        max(reason) as reason
    from kubernetes_condition_entry
    where object_kind = 'Node' and type = 'Ready'
    group by
        artifact_manifest_digest,
        raw_path,
        raw_offset
)

select
    'kubernetes' as source,
    node.name as node_name,
    ready.heartbeat_at as observed_at,
    false as is_zone_assumed,
    case ready.status when 'True' then true when 'False' then false end as is_ready,
    case ready.status when 'True' then 'Ready' when 'False' then 'NotReady' else ready.status end as state,
    ready.reason,
    node.region,
    node.zone,
    node.node_pool,
    node.instance_type,
    node.gpu_product,
    node.gpu_count,
    node.allocatable_gpu_count,
    node.gpu_driver,
    node.kernel_version,
    node.is_unschedulable,
    node.taints,
    node.artifact_manifest_digest,
    node.raw_path,
    node.raw_offset,
    node.raw_length
from kubernetes_node as node
left join ready
    on
        ready.artifact_manifest_digest = node.artifact_manifest_digest
        and ready.raw_path = node.raw_path
        and ready.raw_offset = node.raw_offset
