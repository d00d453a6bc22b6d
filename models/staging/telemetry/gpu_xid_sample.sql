/*
description: >
  One row per sample that shows an XID of a GPU. One metric shows the last XID until another one comes; others count each
  code, in a window or since the exporter started, and show that it occurred again by a higher count. wh record writes a sample for each occurrence.
grain: [artifact_manifest_digest, series_number, raw_path, raw_offset]
columns:
  artifact_manifest_digest: {type: varchar, description: "The bundle of the samples", tests: [not_null]}
  series_number: {type: bigint, description: "The series", tests: [not_null]}
  xid: {type: bigint, description: "The code", tests: [not_null]}
  sampled_at: {type: timestamptz, unit: UTC, description: "The sample"}
  previous_at: {type: timestamptz, unit: UTC, description: "The sample before it; NULL: it is the first. Of an occurrence the sample itself"}
  is_new: {type: boolean, description: "Whether the code occurred since the sample before", tests: [not_null]}
  was_shown_before: {type: boolean, description: "Whether the sample before showed it, too, and it has not occurred since", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where the sample is", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long", tests: [not_null]}
*/
with shown as (
    select
        place.artifact_manifest_digest,
        place.series_number,
        place.metric = 'gpu_xid' as is_last_code,
        place.source = 'recorded_run' as is_occurrence,
        try_cast(if(place.metric = 'gpu_xid', sample.value, try_cast(place.labels ->> '$.xid' as double)) as bigint) as xid,
        sample.sampled_at,
        if(place.source = 'recorded_run', sample.sampled_at, sample.previous_at) as previous_at,
        sample.value,
        sample.previous_value,
        sample.raw_path,
        sample.raw_offset,
        sample.raw_length
    from telemetry_place as place
    inner join telemetry_sample as sample
        on
            sample.artifact_manifest_digest = place.artifact_manifest_digest
            and sample.series_number = place.series_number
    where
        place.metric in ('gpu_xid', 'gpu_xid_count', 'gpu_xid_window_count')
        and sample.value > 0
)

select
    artifact_manifest_digest,
    series_number,
    xid,
    sampled_at,
    previous_at,
    is_occurrence or coalesce(if(is_last_code, value <> previous_value, value > previous_value), false) as is_new,
    not is_occurrence and coalesce(if(is_last_code, value = previous_value, value <= previous_value), false) as was_shown_before,
    raw_path,
    raw_offset,
    raw_length
from shown
where xid > 0
