/*
description: >
  One row per run and bundle that states the revision of the folder where the run was started. It makes runs no variants of each other: the
  folder may hold what was measured, or only what measures.
grain: [run_id, artifact_manifest_digest]
collects: source_revision
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  git_commit: {type: varchar, description: "The commit", tests: [not_null]}
  git_branch: {type: varchar, description: "The branch; NULL: none, or not stated"}
  is_dirty: {type: boolean, description: "Whether tracked files differed from the commit; NULL: not stated"}
  git_remote: {type: varchar, description: "URL of the remote, without credentials; NULL: none, or not stated"}
*/
select *
from feed.source_revision
