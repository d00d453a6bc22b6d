/*
description: >
  One row per result of an inspection, and per inspection whose build failed. The inspection is the scheduler's run. The
  pod's name identifies no pod, so pod_uid is NULL, and Amun does not state the node.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
-- A run that failed before it printed its indicator is of the case of its siblings, as its workload says.
with named as (
    select
        *,
        json_extract_string(workload_document, '$.component') as workload_component,
        json_extract_string(workload_document, '$.indicator_name') as workload_indicator
    from thoth_run
)

select
    run.run_id,
    coalesce(
        run.workload_component || '/' || run.workload_indicator, run.workload_indicator, run.component || '/' || run.indicator_name,
        run.indicator_name, 'amun/' || inspection.identifier, 'amun'
    ) as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    case when run.result_number is not null then regexp_replace(run.raw_path, '[^/]*$', '') else run.raw_path end as raw_folder,
    'thoth' as family,
    'performance' as mode,
    run.status,
    run.status_reason,
    run.result_number + 1 as repeat_index,
    run.started_at,
    run.ended_at,
    run.is_zone_assumed,
    case when run.ended_at >= run.started_at then epoch(run.ended_at - run.started_at) end as duration_s,
    run.exit_code,
    run.user_cpu_s,
    run.system_cpu_s,
    try_cast(run.max_rss_kib::hugeint * 1024 as bigint) as max_rss_bytes,
    run.voluntary_context_switches,
    run.involuntary_context_switches,
    run.minor_page_faults,
    run.major_page_faults,
    run.inspection_id as scheduler_run_id,
    'amun' as scheduler_path
from named as run
left join thoth_inspection as inspection
    on inspection.artifact_manifest_digest = run.artifact_manifest_digest
