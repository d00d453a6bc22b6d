/*
description: >
  One row per result file. A log without run_stop was interrupted. A log without any log line has the status unknown. A
  log that copies another log of its set, or whose clock the ingestor refused, is invalid.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run.run_id,
    'mlperf-' || run.usage || '/' || coalesce(run.benchmark, 'unnamed') as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    run.raw_path as raw_folder,
    'mlperf_training' as family,
    'performance' as mode,
    case when lower(coalesce(division.value, system.division)) = 'closed' then 'publication' end as intent,
    run.round as cadence,
    case
        when run.copy_of is not null then 'invalid'
        when clock.run_status <> 'success' then 'failed'
        when run.refusal is not null then 'invalid'
        when clock.run_stop_ms is null and run.event_count > 0 then 'interrupted'
        when clock.run_start_ms < clock.run_stop_ms and clock.run_status = 'success' then 'succeeded'
        when clock.run_status = 'success' then 'invalid'
        else 'unknown'
    end as status,
    case
        when run.copy_of is not null then run.refusal || ': ' || run.copy_of
        when clock.run_status <> 'success' then clock.run_status
        when run.refusal is not null then run.refusal
        when clock.run_stop_ms is null and run.event_count > 0 then 'no run_stop'
        else clock.run_status
    end as status_reason,
    run.repeat_index,
    epoch_ms(coalesce(clock.run_start_ms, clock.init_start_ms)) at time zone 'UTC' as started_at,
    epoch_ms(clock.run_stop_ms) at time zone 'UTC' as ended_at,
    case when coalesce(clock.run_start_ms, clock.init_start_ms, clock.run_stop_ms) is not null then false end as is_zone_assumed,
    case when run.refusal is null and clock.run_start_ms < clock.run_stop_ms then (clock.run_stop_ms - clock.run_start_ms) / 1000 end as duration_s
from mlperf_training_run as run
left join mlperf_training_clock as clock
    on
        clock.run_id = run.run_id
        and clock.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_training_statement as division
    on
        division.run_id = run.run_id
        and division.artifact_manifest_digest = run.artifact_manifest_digest
        and division.key = 'submission_division'
left join mlperf_training_system as system
    on system.artifact_manifest_digest = run.artifact_manifest_digest
