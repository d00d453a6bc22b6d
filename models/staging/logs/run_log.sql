/*
description: >
  One row per run and log that was searched for known lines: the run's own logs, and those that belong to no single run of its bundle.
grain: [run_id, artifact_manifest_digest, raw_path]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle that the run is read from", tests: [not_null]}
  raw_path: {type: varchar, description: "The log in its bundle", tests: [not_null]}
  is_own: {type: boolean, description: "Whether it is in the run's own folder, or is its own file", tests: [not_null]}
  line_count: {type: bigint, description: "Its lines", tests: [not_null]}
  unknown_count: {type: bigint, description: "Lines that look like a warning or an error, and that no rule knows", tests: [not_null]}
*/
select
    file.run_id,
    file.artifact_manifest_digest,
    file.raw_path,
    file.is_own,
    log.line_count,
    log.unknown_count
from log_file as log
inner join run_file as file
    on
        file.artifact_manifest_digest = log.artifact_manifest_digest
        and file.raw_path = log.raw_path
inner join run_bundle as bundle
    on
        bundle.run_id = file.run_id
        and bundle.artifact_manifest_digest = file.artifact_manifest_digest
