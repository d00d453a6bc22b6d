/*
description: One row per run and bundle, a digest of the files in the run's own folder.
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
from mlperf_inference_run as run
inner join evidence_file as file
    on
        file.artifact_manifest_digest = run.artifact_manifest_digest
        and starts_with(file.raw_path, regexp_replace(run.raw_path, '[^/]+$', ''))
group by
    run.run_id,
    run.artifact_manifest_digest
