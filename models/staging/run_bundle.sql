/*
description: >
  One row per run: the evidence bundle it is read from. Of several bundles that state a run, the one with the most files is
  taken; which arrived first plays no part. Bundles that hold other bytes under one path are in conflict.
grain: [run_id]
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle the run is read from", tests: [not_null]}
  bundle_count: {type: bigint, description: "How many bundles state the run", tests: [not_null]}
  has_conflict: {type: boolean, description: "Whether bundles hold different bytes for a file of the run", tests: [not_null]}
*/
with chosen as (
    select
        stated.run_id,
        max({'file_count': bundle.file_count, 'digest': bundle.artifact_manifest_digest}).digest as artifact_manifest_digest,
        count(*) as bundle_count
    from feed.benchmark_run as stated
    inner join evidence_bundle as bundle
        on bundle.artifact_manifest_digest = stated.artifact_manifest_digest
    group by stated.run_id
),

path as (
    select
        run_id,
        raw_path,
        count(distinct sha256) as contents
    from run_file
    group by
        run_id,
        raw_path
),

agreement as (
    select
        run_id,
        max(contents) > 1 as has_conflict
    from path
    group by run_id
)

select
    chosen.run_id,
    chosen.artifact_manifest_digest,
    chosen.bundle_count,
    coalesce(agreement.has_conflict, false) as has_conflict
from chosen
left join agreement
    on agreement.run_id = chosen.run_id
