/*
description: One row per report, from the start of its first benchmark to the end of its last.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
with outcome as (
    select
        run_id,
        artifact_manifest_digest,
        sum(completed_count) as completed_count,
        sum(failed_count) as failed_count,
        min(start_time_s) filter (where end_time_s > start_time_s or end_time_s is null) as start_time_s,
        bool_or(is_zone_assumed) as is_zone_assumed,
        max(end_time_s) filter (where end_time_s > start_time_s or start_time_s is null) as end_time_s
    from guidellm_metric
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    'guidellm/' || coalesce(json_extract_string(run.workload_document, '$.model'), 'unstated model') as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    run.raw_path as raw_folder,
    'guidellm' as family,
    'performance' as mode,
    case
        when outcome.completed_count > 0 then 'succeeded'
        when outcome.failed_count > 0 then 'failed'
        else 'unknown'
    end as status,
    case when outcome.start_time_s > 0 then to_timestamp(outcome.start_time_s) end as started_at,
    case when outcome.end_time_s > 0 then to_timestamp(outcome.end_time_s) end as ended_at,
    case when outcome.start_time_s > 0 then outcome.is_zone_assumed end as is_zone_assumed,
    outcome.end_time_s - outcome.start_time_s as duration_s
from guidellm_run as run
left join outcome
    on
        outcome.run_id = run.run_id
        and outcome.artifact_manifest_digest = run.artifact_manifest_digest
