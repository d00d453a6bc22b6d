/*
description: >
  One row per recorded run, a digest of the files in its own folder.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  outcome_digest: {type: varchar, description: "Digest of the run's own files", tests: [not_null]}
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    sha256(string_agg(file.sha256, ',' order by file.raw_path)) as outcome_digest
from recorded_run as run
inner join evidence_file as file
    on
        file.artifact_manifest_digest = run.artifact_manifest_digest
        and split_part(file.raw_path, '/', 1) = split_part(run.raw_path, '/', 1)
group by
    run.run_id,
    run.artifact_manifest_digest
