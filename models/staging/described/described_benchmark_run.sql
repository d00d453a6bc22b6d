/*
description: >
  One row per run of a described format, in the columns of benchmark_run_fact.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run_id,
    benchmark_case_id,
    workload_spec_digest,
    artifact_manifest_digest,
    raw_path as raw_folder,
    section as raw_section,
    family,
    'performance' as mode,
    status,
    status_reason,
    started_at,
    ended_at,
    is_zone_assumed,
    duration_s,
    node_name
from described_run
