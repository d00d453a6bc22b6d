/*
description: >
  One row per run, bundle and file that tells of the run: the files of its own folder, and those that no other run of the
  bundle has for its own (system descriptions, measurements, configurations).
grain: [run_id, artifact_manifest_digest, raw_path]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The file's path in its bundle", tests: [not_null]}
  sha256: {type: varchar, description: "sha256 of the file's bytes", tests: [not_null]}
  is_own: {type: boolean, description: "Whether it lies in the run's own folder", tests: [not_null]}
*/
with owner as (
    select
        file.artifact_manifest_digest,
        file.raw_path,
        max(stated.raw_folder) as raw_folder
    from evidence_file as file
    inner join feed.benchmark_run as stated
        on
            stated.artifact_manifest_digest = file.artifact_manifest_digest
            and starts_with(file.raw_path, stated.raw_folder)
    group by
        file.artifact_manifest_digest,
        file.raw_path
)

select
    stated.run_id,
    stated.artifact_manifest_digest,
    file.raw_path,
    file.sha256,
    starts_with(file.raw_path, stated.raw_folder) as is_own
from feed.benchmark_run as stated
inner join evidence_file as file
    on file.artifact_manifest_digest = stated.artifact_manifest_digest
left join owner
    on
        owner.artifact_manifest_digest = file.artifact_manifest_digest
        and owner.raw_path = file.raw_path
where
    owner.raw_path is null
    or starts_with(file.raw_path, stated.raw_folder)
