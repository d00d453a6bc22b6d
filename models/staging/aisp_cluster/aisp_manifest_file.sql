/*
description: >
  One row per file that the manifest of a cluster run lists, and its state in the evidence. A listed file that is not
  there is a state, not a fault: missing raw.
grain: [artifact_manifest_digest, path]
columns:
  cluster_run_id: {type: varchar, description: "The cluster run"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  path: {type: varchar, description: "The file's path, as listed", tests: [not_null]}
  listed_sha256: {type: varchar, description: "sha256, as listed; NULL: none is"}
  state: {type: varchar, description: "present: the bytes are those listed; differs: they are others; self: the manifest itself; unhashed: no sha256 is listed", tests: [not_null, {accepted_values: [present, missing raw, differs, self, unhashed]}]}
  file_raw_path: {type: varchar, description: "The file's path in the bundle; NULL: it is not there"}
  file_sha256: {type: varchar, description: "sha256 of the file's bytes"}
*/
select
    cluster_run_id,
    artifact_manifest_digest,
    path,
    listed_sha256,
    state,
    file_raw_path,
    file_sha256
from aisp_manifest_entry
