/*
description: >
  One row per thing that is wrong with a node or container by its status: a node that is not ready or under pressure, a container that
  was killed, failed or cannot start. A condition that node-problem-detector adds is a problem while it is true.
  What several snapshots show is one event.
feeds: cluster_event
*/
with found as (
    select
        'kubernetes' as source,
        case when type = 'Ready' then 'NodeNotReady' else type end as code,
        transition_at as event_at,
        transition_at as first_seen_at,
        heartbeat_at as last_seen_at,
        false as is_zone_assumed,
        null::bigint as count,
        'stated' as certainty,
        'warning' as severity,
        object_name as node_name,
        null as pod_uid,
        null as pod_name,
        null as namespace,
        'Node' as object_kind,
        object_name,
        object_uid as object_id,
        concat_ws(': ', reason, message) as message,
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length
    from kubernetes_condition_entry
    where
        object_kind = 'Node'
        and case when type = 'Ready' then status <> 'True' else status = 'True' end
    union all
    select
        'kubernetes' as source,
        container.reason as code,
        container.finished_at as event_at,
        container.finished_at as first_seen_at,
        container.finished_at as last_seen_at,
        false as is_zone_assumed,
        null::bigint as count,
        'stated' as certainty,
        'error' as severity,
        pod.node_name,
        container.pod_uid,
        container.pod_name,
        container.pod_namespace as namespace,
        'Pod' as object_kind,
        concat_ws('/', container.pod_name, container.container) as object_name,
        container.pod_uid as object_id,
        concat_ws(', ', container.message, 'exit code ' || container.exit_code, 'restarts ' || container.restarts) as message,
        container.artifact_manifest_digest,
        container.raw_path,
        container.raw_offset,
        container.raw_length
    from kubernetes_container_entry as container
    inner join kubernetes_pod as pod
        on
            pod.artifact_manifest_digest = container.artifact_manifest_digest
            and pod.raw_path = container.raw_path
            and pod.raw_offset = container.raw_offset
    where
        container.reason is not null
        and (
            (container.state = 'terminated' and container.reason <> 'Completed')
            or (container.state = 'waiting' and container.reason not in ('ContainerCreating', 'PodInitializing'))
        )
)

select *
from found
qualify
    row_number() over (
        partition by
            code,
            object_kind,
            object_name,
            object_id,
            namespace,
            event_at
        order by
            last_seen_at desc nulls last,
            artifact_manifest_digest,
            raw_path,
            raw_offset
    ) = 1
