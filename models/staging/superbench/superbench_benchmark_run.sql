/*
description: >
  One row per node that SuperBench checked, and per file of its monitor, in the columns of benchmark_run_fact.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run_id,
    concat_ws('/', 'superbench', kind) as benchmark_case_id,
    workload_spec_digest,
    artifact_manifest_digest,
    raw_path as raw_folder,
    raw_offset::varchar || '+' || raw_length::varchar as raw_section,
    'superbench' as family,
    'performance' as mode,
    'validation' as intent,
    status,
    status_reason,
    started_at,
    ended_at,
    case when started_at is not null then true end as is_zone_assumed,
    (epoch_us(ended_at) - epoch_us(started_at)) / 1e6 as duration_s,
    node as node_name
from superbench_run
