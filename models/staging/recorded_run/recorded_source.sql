/*
description: >
  One row per recorded run in a working folder of git: what the folder was of.
grain: [run_id, artifact_manifest_digest]
feeds: source_revision
*/
select
    run_id,
    artifact_manifest_digest,
    git_commit,
    git_branch,
    git_is_dirty as is_dirty,
    git_remote
from recorded_run
where git_commit is not null
