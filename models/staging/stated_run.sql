/*
description: >
  One row per run and bundle that states it: its place in the bundle, its times, and its names in a scheduler. Models that
  need no more read this table, because a trace through it is far cheaper than one through the union of all families.
grain: [run_id, artifact_manifest_digest]
*/
select
    run_id,
    artifact_manifest_digest,
    raw_folder,
    raw_section,
    started_at,
    ended_at,
    duration_s,
    is_zone_assumed,
    scheduler_run_id,
    job_uid,
    pod_uid,
    node_name,
    gpu_uuid
from feed.benchmark_run
