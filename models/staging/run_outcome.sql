/*
description: >
  One row per run and bundle that states it: a digest of the files in the run's own folder, to tell whether two bundles
  agree on the run.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  outcome_digest: {type: varchar, description: "sha256 of the sha256 of each file, in path order; NULL: the run has no file of its own"}
*/
select
    stated.run_id,
    stated.artifact_manifest_digest,
    sha256(string_agg(file.sha256, ',' order by file.raw_path)) as outcome_digest
from feed.benchmark_run as stated
left join evidence_file as file
    on
        file.artifact_manifest_digest = stated.artifact_manifest_digest
        and starts_with(file.raw_path, stated.raw_folder)
group by
    stated.run_id,
    stated.artifact_manifest_digest
