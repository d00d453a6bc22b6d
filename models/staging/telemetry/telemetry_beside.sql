/*
description: >
  One row per bundle of telemetry and run that lay in one folder when they were ingested: the bundle names the sha256 and path of the
  result files that were beside it. Of bundles with the same bytes, which were ingested when the folder had other results, one counts.
grain: [artifact_manifest_digest, run_id]
*/
with beside as (
    select
        artifact_manifest_digest,
        unnest(json_extract_string(identity, '$.beside[*]')) as file
    from evidence_bundle
    where contains(identity, '"beside"')
)

select
    min(beside.artifact_manifest_digest) as artifact_manifest_digest,
    run.run_id
from beside
inner join evidence_file as sampled
    on sampled.artifact_manifest_digest = beside.artifact_manifest_digest
inner join evidence_file as file
    on concat_ws(' ', file.sha256, file.raw_path) = beside.file
inner join stated_run as run
    on run.artifact_manifest_digest = file.artifact_manifest_digest
group by
    run.run_id,
    sampled.sha256
