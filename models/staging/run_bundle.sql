/*
description: >
  One row per run: the evidence bundle it is read from. Several bundles may state one run: the one with the most files
  is taken, of those the last that arrived. Where their bytes for the run differ, has_conflict says so.
grain: [run_id]
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle the run is read from", tests: [not_null]}
  bundle_count: {type: bigint, description: "How many bundles state the run", tests: [not_null]}
  has_conflict: {type: boolean, description: "Whether bundles state different bytes for the run", tests: [not_null]}
*/
select
    stated.run_id,
    max({
        'file_count': evidence_bundle.file_count,
        'arrived_at': evidence_bundle.arrived_at,
        'digest': evidence_bundle.artifact_manifest_digest
    }).digest as artifact_manifest_digest,
    count(*) as bundle_count,
    count(distinct stated.outcome_digest) > 1 as has_conflict
from run_outcome as stated
inner join evidence_bundle
    on evidence_bundle.artifact_manifest_digest = stated.artifact_manifest_digest
group by stated.run_id
