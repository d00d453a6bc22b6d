/*
description: >
  One row per execution of a fabric or node check, in the columns of benchmark_run_fact.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run_id,
    concat_ws('/', tool, test) as benchmark_case_id,
    workload_spec_digest,
    artifact_manifest_digest,
    raw_path as raw_folder,
    raw_offset::varchar || '+' || raw_length::varchar as raw_section,
    'fabric_check' as family,
    'performance' as mode,
    'validation' as intent,
    status,
    status_reason,
    started_at,
    ended_at,
    is_zone_assumed,
    duration_s,
    case when node_count = 1 then nodes end as node_name
from fabric_check_run
