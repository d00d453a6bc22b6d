/*
description: >
  One row per Kubernetes event, of several snapshots of one the newest. An event's node is the component's host, the node that it is
  about, or the one that the scheduler's message names. The kubelet has one reason for an image that it cannot get and for a container that
  does not start: the message distinguishes them.
feeds: cluster_event
*/
select
    'kubernetes' as source,
    coalesce(reason, 'unstated') as code,
    coalesce(event_at, first_seen_at) as event_at,
    coalesce(first_seen_at, event_at) as first_seen_at,
    coalesce(last_seen_at, event_at) as last_seen_at,
    false as is_zone_assumed,
    count,
    case
        when last_seen_age is not null
            then last_seen_age || coalesce(' (since ' || first_seen_age || ')', '')
    end as age_text,
    'stated' as certainty,
    case when reason in ('Failed', 'BackOff') and regexp_matches(message, '(?i)\bimage|ErrImagePull') then 'image' end as event_class,
    case when event_type = 'Warning' and class.severity is distinct from 'error' then 'warning' else class.severity end as severity,
    coalesce(
        host,
        case when object_kind = 'Node' then object_name end,
        nullif(regexp_extract(message, '^Successfully assigned \S+ to (\S+)$', 1), '')
    ) as node_name,
    case when object_kind = 'Pod' then object_uid end as pod_uid,
    case when object_kind = 'Pod' then object_name end as pod_name,
    object_namespace as namespace,
    object_kind,
    object_name,
    object_uid as object_id,
    message,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from kubernetes_event
left join cluster_event_class as class
    on
        class.source = 'kubernetes'
        and class.code = kubernetes_event.reason
qualify
    row_number() over (
        partition by coalesce(uid, artifact_manifest_digest || raw_path || raw_offset)
        order by
            try_cast(resource_version as hugeint) desc nulls last,
            count desc nulls last,
            artifact_manifest_digest,
            raw_path,
            raw_offset
    ) = 1
