/*
description: >
  One row per fault of a node that its kernel log, a diagnosis or a listing of its devices states. Seconds since boot are no time; what only lists
  the state of devices has none.
feeds: cluster_event
*/
select
    event.tool as source,
    event.code,
    event.certainty,
    event.event_at,
    event.event_at as last_seen_at,
    event.is_zone_assumed,
    event.node_name,
    event.gpu_uuid,
    event.component_kind as object_kind,
    case when event.code = 'xid' then event.number::varchar else event.component end as object_name,
    event.message || coalesce(' (' || known.name || ')', '') as message,
    event.artifact_manifest_digest,
    event.raw_path,
    event.raw_offset,
    event.raw_length
from node_tool_event as event
left join gpu_xid as known
    on
        known.code = event.number
        and event.code = 'xid'
