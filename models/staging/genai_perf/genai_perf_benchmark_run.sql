/*
description: >
  One row per run. It began with its first request and ended with its last response. Without requests, AIPerf's
  summary states the times, as local time without a zone. A run that failed without an export is known only from AIPerf's
  statistics of several runs, with the error as its reason.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
with outcome as (
    select
        run_id,
        artifact_manifest_digest,
        sum(completed_count) as completed_count,
        sum(failed_count) as failed_count,
        max(e2e_mean_ms) as e2e_mean_ms
    from genai_perf_serving_outcome
    group by
        run_id,
        artifact_manifest_digest
),

clock as (
    select
        run_id,
        artifact_manifest_digest,
        min(started_ns) as started_ns,
        max(ended_ns) as ended_ns
    from genai_perf_timing_statistic
    group by
        run_id,
        artifact_manifest_digest
),

told as (
    select
        run_id,
        artifact_manifest_digest,
        bool_or(key = 'was_cancelled' and value = 'true') as was_cancelled,
        max(value) filter (where key = 'start_time') as started_at_text,
        max(value) filter (where key = 'end_time') as ended_at_text
    from genai_perf_entry
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    run.tool || '/' || coalesce(json_extract_string(run.workload_document, '$.model'), 'unstated model') as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    run.raw_path as raw_folder,
    'genai_perf' as family,
    'performance' as mode,
    case
        when run.failure is not null then 'failed'
        when told.was_cancelled then 'interrupted'
        when outcome.completed_count > 0 then 'succeeded'
        when outcome.failed_count > 0 then 'failed'
        when outcome.e2e_mean_ms is not null then 'succeeded'
        else 'unknown'
    end as status,
    run.failure as status_reason,
    coalesce(to_timestamp(clock.started_ns / 1e9), try_cast(told.started_at_text as timestamptz)) as started_at,
    coalesce(to_timestamp(clock.ended_ns / 1e9), try_cast(told.ended_at_text as timestamptz)) as ended_at,
    case
        when clock.started_ns is not null then false
        when try_cast(told.started_at_text as timestamptz) is not null
            then not regexp_matches(told.started_at_text, '(Z|[+-][0-9]{2}:?[0-9]{2})$')
    end as is_zone_assumed,
    coalesce(
        case when clock.ended_ns > clock.started_ns then (clock.ended_ns - clock.started_ns) / 1e9 end,
        case
            when try_cast(told.ended_at_text as timestamptz) > try_cast(told.started_at_text as timestamptz)
                then epoch(try_cast(told.ended_at_text as timestamptz)) - epoch(try_cast(told.started_at_text as timestamptz))
        end
    ) as duration_s
from genai_perf_run as run
left join outcome
    on
        outcome.run_id = run.run_id
        and outcome.artifact_manifest_digest = run.artifact_manifest_digest
left join clock
    on
        clock.run_id = run.run_id
        and clock.artifact_manifest_digest = run.artifact_manifest_digest
left join told
    on
        told.run_id = run.run_id
        and told.artifact_manifest_digest = run.artifact_manifest_digest
