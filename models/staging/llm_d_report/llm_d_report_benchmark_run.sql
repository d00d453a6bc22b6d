/*
description: >
  One row per report. Version 0.1 states its times in epoch seconds, version 0.2 with a zone and with its duration in
  ISO 8601.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
with clock as (
    select
        run_id,
        artifact_manifest_digest,
        coalesce(
            try_cast(max(value) filter (where key = 'run/time/start') as timestamptz),
            to_timestamp(max(value_number) filter (where key = 'metrics/time/start'))
        ) as started_at,
        coalesce(
            try_cast(max(value) filter (where key = 'run/time/end') as timestamptz),
            to_timestamp(max(value_number) filter (where key = 'metrics/time/stop'))
        ) as ended_at,
        coalesce(
            try_cast(regexp_extract(max(value) filter (where key = 'run/time/duration'), '^PT([0-9.]+)S$', 1) as double),
            max(value_number) filter (where key = 'metrics/time/duration')
        ) as duration_s
    from llm_d_report_entry
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    'llm-d/' || coalesce(json_extract_string(run.workload_document, '$.model'), 'unstated model') as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    run.raw_path as raw_folder,
    'llm_d_report' as family,
    'performance' as mode,
    case
        when outcome.completed_count > 0 then 'succeeded'
        when outcome.failed_count > 0 then 'failed'
        else 'unknown'
    end as status,
    case when clock.ended_at >= clock.started_at or clock.ended_at is null then clock.started_at end as started_at,
    case when clock.ended_at >= clock.started_at or clock.started_at is null then clock.ended_at end as ended_at,
    case when clock.ended_at >= clock.started_at or (clock.ended_at is null and clock.started_at is not null) then false end as is_zone_assumed,
    case when clock.duration_s > 0 then clock.duration_s end as duration_s
from llm_d_report_run as run
left join llm_d_report_serving_outcome as outcome
    on
        outcome.run_id = run.run_id
        and outcome.artifact_manifest_digest = run.artifact_manifest_digest
left join clock
    on
        clock.run_id = run.run_id
        and clock.artifact_manifest_digest = run.artifact_manifest_digest
