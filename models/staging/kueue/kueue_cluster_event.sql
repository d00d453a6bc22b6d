/*
description: >
  One row per Workload and known transition to evicted or preempted, from the first snapshot that shows it.
feeds: cluster_event
*/
select
    'kueue' as source,
    entry.type as code,
    entry.transition_at as event_at,
    entry.transition_at as first_seen_at,
    entry.transition_at as last_seen_at,
    false as is_zone_assumed,
    'stated' as certainty,
    'Workload' as object_kind,
    entry.object_name,
    entry.object_uid as object_id,
    entry.object_namespace as namespace,
    entry.message,
    entry.artifact_manifest_digest,
    entry.raw_path,
    entry.raw_offset,
    entry.raw_length
from kueue_condition_entry as entry
where
    entry.object_kind = 'Workload'
    and entry.kind = 'condition'
    and entry.status = 'True'
    and entry.type in ('Evicted', 'Preempted')
qualify
    row_number() over (
        partition by
            entry.object_uid,
            entry.object_namespace,
            entry.object_name,
            entry.type,
            entry.transition_at
        order by
            entry.artifact_manifest_digest,
            entry.raw_path,
            entry.raw_offset,
            entry.position
    ) = 1
