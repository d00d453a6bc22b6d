/*
description: >
  One row per GPU and XID in the samples of an exporter. The exporter shows the last XID until another one comes: the first
  sample with a code says by when it had happened, and when the code was there from the first sample on, not even that.
grain: [artifact_manifest_digest, raw_path, raw_offset]
feeds: cluster_event
*/
with seen as (
    select
        place.artifact_manifest_digest,
        place.series_number,
        place.node_name,
        place.gpu_uuid,
        sample.xid,
        sample.sampled_at,
        sample.previous_at is null as is_first_sample,
        sample.is_new,
        sample.raw_path,
        sample.raw_offset,
        sample.raw_length
    from telemetry_place as place
    inner join gpu_xid_sample as sample
        on
            sample.artifact_manifest_digest = place.artifact_manifest_digest
            and sample.series_number = place.series_number
)

select
    seen.artifact_manifest_digest,
    'dcgm' as source,
    'xid' as code,
    'stated' as certainty,
    if(bool_or(seen.is_first_sample), null, min(seen.sampled_at) filter (where seen.is_new)) as event_at,
    min(seen.sampled_at) as first_seen_at,
    max(seen.sampled_at) as last_seen_at,
    nullif(count(*) filter (where seen.is_new), 0) as count,
    seen.node_name,
    seen.gpu_uuid,
    'XID' as object_kind,
    seen.xid::varchar as object_name,
    concat('XID ', seen.xid, coalesce(': ' || known.name, '')) as message,
    arg_min(seen.raw_path, (seen.sampled_at, seen.raw_offset)) as raw_path,
    arg_min(seen.raw_offset, (seen.sampled_at, seen.raw_offset)) as raw_offset,
    arg_min(seen.raw_length, (seen.sampled_at, seen.raw_offset)) as raw_length
from seen
left join gpu_xid as known
    on known.code = seen.xid
group by
    seen.artifact_manifest_digest,
    seen.series_number,
    seen.node_name,
    seen.gpu_uuid,
    seen.xid,
    known.name
