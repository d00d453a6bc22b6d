/*
description: >
  One row per run of a described format that states a commit.
grain: [run_id, artifact_manifest_digest]
feeds: source_revision
*/
select
    run_id,
    artifact_manifest_digest,
    git_commit,
    git_branch,
    is_dirty,
    git_remote
from described_run
where git_commit is not null
