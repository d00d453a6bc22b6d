/*
description: >
  One row per run, GPU and XID that its exporter showed or counted while the run ran. The exporter shows the last XID until another
  one comes, so a code that was there before the run says nothing about the run: it is pre-existing, unless another code or none came
  in between. Only a count shows that one code occurred again.
grain: [run_id, artifact_manifest_digest, series_number, code]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle of the samples", tests: [not_null]}
  series_number: {tests: [not_null]}
  raw_path: {tests: [not_null]}
  code: {type: bigint, description: "The XID", tests: [not_null]}
  name: {type: varchar, description: "NVIDIA's name for it; NULL: staging.gpu_xid does not have it"}
  certainty: {type: varchar, description: "in run: the code appeared between two samples of the run. pre-existing: it was there before the run. unknown: it was there at the first sample of the run, and not at the last one before it, or there is none", tests: [not_null, {accepted_values: [in run, pre-existing, unknown]}]}
  first_seen_at: {type: timestamptz, unit: UTC, description: "First sample of the run with the code; of one that appeared in the run, the first after that", tests: [not_null]}
  not_before_at: {type: timestamptz, unit: UTC, description: "Last sample without the code before it appeared in the run; NULL: it did not appear in the run"}
  last_seen_at: {type: timestamptz, unit: UTC, description: "Last sample of the run with the code", tests: [not_null]}
  is_ambiguous: {type: boolean, description: "Whether another run or job was on the GPU at the same time", tests: [not_null]}
*/
with seen as (
    select
        joined.run_id,
        joined.artifact_manifest_digest,
        joined.series_number,
        joined.is_ambiguous,
        sample.xid as code,
        sample.sampled_at,
        sample.previous_at,
        sample.was_shown_before and sample.previous_at < joined.run_start as is_left_over,
        sample.is_new and sample.previous_at >= joined.run_start as has_appeared
    from telemetry_run_series as joined
    inner join gpu_xid_sample as sample
        on
            sample.artifact_manifest_digest = joined.artifact_manifest_digest
            and sample.series_number = joined.series_number
            and sample.sampled_at between joined.run_start and joined.run_end
),

code_seen as (
    select
        run_id,
        artifact_manifest_digest,
        series_number,
        code,
        bool_or(is_ambiguous) as is_ambiguous,
        coalesce(bool_or(is_left_over), false) as was_before,
        coalesce(bool_or(has_appeared), false) as has_appeared,
        coalesce(min(sampled_at) filter (where has_appeared), min(sampled_at)) as first_seen_at,
        min(previous_at) filter (where has_appeared) as not_before_at,
        max(sampled_at) as last_seen_at
    from seen
    group by
        run_id,
        artifact_manifest_digest,
        series_number,
        code
)

select
    code_seen.run_id,
    code_seen.artifact_manifest_digest,
    code_seen.series_number,
    place.raw_path,
    place.node_name,
    place.gpu_uuid,
    code_seen.code,
    known.name,
    known.xid_class,
    case
        when code_seen.has_appeared then 'in run'
        when code_seen.was_before then 'pre-existing'
        else 'unknown'
    end as certainty,
    code_seen.first_seen_at,
    code_seen.not_before_at,
    code_seen.last_seen_at,
    code_seen.is_ambiguous
from code_seen
inner join telemetry_place as place
    on
        place.artifact_manifest_digest = code_seen.artifact_manifest_digest
        and place.series_number = code_seen.series_number
left join gpu_xid as known
    on known.code = code_seen.code
