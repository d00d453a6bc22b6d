/*
description: >
  One row per run, bundle and file that describes the run: its own files, and those that belong to no single run of
  the bundle (system descriptions, measurements, configurations). A run declaration belongs to no single run. A list
  that restates several runs describes other runs as well and is not here.
grain: [run_id, artifact_manifest_digest, raw_path]
role: run_files
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The file's path in its bundle", tests: [not_null]}
  sha256: {type: varchar, description: "sha256 of the file's bytes", tests: [not_null]}
  is_own: {type: boolean, description: "Whether it is in the run's own folder, or is its own file", tests: [not_null]}
*/
with own as (
    select
        stated.run_id,
        stated.artifact_manifest_digest,
        file.raw_path
    from stated_run as stated
    inner join evidence_file as file
        on
            file.artifact_manifest_digest = stated.artifact_manifest_digest
            and file.role is distinct from 'run_declaration'
            and (
                file.raw_path = stated.raw_folder
                or (right(stated.raw_folder, 1) in ('', '/') and starts_with(file.raw_path, stated.raw_folder))
            )
),

owned as (
    select distinct
        artifact_manifest_digest,
        raw_path
    from own
)

select
    stated.run_id,
    stated.artifact_manifest_digest,
    file.raw_path,
    file.sha256,
    own.run_id is not null as is_own
from stated_run as stated
inner join evidence_file as file
    on file.artifact_manifest_digest = stated.artifact_manifest_digest
left join own
    on
        own.run_id = stated.run_id
        and own.artifact_manifest_digest = file.artifact_manifest_digest
        and own.raw_path = file.raw_path
left join owned
    on
        owned.artifact_manifest_digest = file.artifact_manifest_digest
        and owned.raw_path = file.raw_path
        -- A file that several runs have for their own is each one's for itself, not because the others have it.
        and own.run_id is null
where
    file.role is distinct from 'restatement'
    and owned.raw_path is null
