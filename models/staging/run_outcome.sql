/*
description: >
  One row per run and bundle that states it: a digest of the run's own files, to tell whether two runs are one execution.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  outcome_digest: {type: varchar, description: "sha256 of the sha256 of each of its own files, in path order; NULL: it has none"}
*/
select
    run_id,
    artifact_manifest_digest,
    sha256(string_agg(sha256, ',' order by raw_path) filter (where is_own)) as outcome_digest
from run_file
group by
    run_id,
    artifact_manifest_digest
