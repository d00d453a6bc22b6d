/*
description: >
  One row per manifest of a cluster run: what it states of the run, in its own words. Version 1 states neither status nor git.
grain: [artifact_manifest_digest]
columns:
  cluster_run_id: {type: varchar, description: "The cluster run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  manifest_version: {type: bigint, description: "Version of the manifest"}
  manifest_mode: {type: varchar, description: "run_dir or legacy_flat; NULL in version 1 of the flat layout"}
  written_at: {type: timestamptz, unit: UTC, description: "When the manifest was written"}
  is_finalized: {type: boolean, description: "Whether all steps were over when it was written"}
  status: {type: varchar, description: "running, partial, succeeded, failed or unknown"}
  suite_status: {type: varchar, description: "The same, of the suite's steps"}
  is_success: {type: boolean, description: "Whether it succeeded; NULL: not known yet"}
  completeness: {type: varchar, description: "How complete the fabric's verification is"}
  issues: {type: varchar, description: "Its list of issues, JSON"}
  git_commit: {type: varchar, description: "Commit of the suite"}
  is_git_dirty: {type: boolean, description: "Whether the suite's files differed from the commit"}
  nodes: {type: varchar, description: "Hosts, comma-separated"}
  listed_count: {type: bigint, description: "How many files it counts"}
*/
select
    cluster_run_id,
    artifact_manifest_digest,
    manifest_version,
    manifest_mode,
    written_at,
    is_finalized,
    status,
    suite_status,
    is_success,
    completeness,
    issues,
    git_commit,
    is_git_dirty,
    nodes,
    listed_count
from aisp_manifest
