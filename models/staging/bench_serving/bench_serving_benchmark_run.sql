/*
description: >
  One row per run of vLLM's client or a fork. The date in vLLM's record is the local time at which the run ended. Its
  zone is not stated and is taken as UTC. InferenceX writes a record only for a run that completed requests.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run.run_id,
    split_part(run.run_id, '/', 1) || '/' || coalesce(run.dataset, 'serving') as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    run.raw_path as raw_folder,
    run.raw_offset::varchar || '+' || run.raw_length::varchar as raw_section,
    'bench_serving' as family,
    'performance' as mode,
    case
        when not run.is_whole then 'interrupted'
        when run.failure is not null then 'failed'
        when metric.completed_count = 0 then 'failed'
        when metric.completed_count > 0 then 'succeeded'
        when run.format = 'inferencex_agg' and metric.total_token_throughput_per_accelerator > 0 then 'succeeded'
        else 'unknown'
    end as status,
    case
        when not run.is_whole then 'the record breaks off'
        when run.failure is not null then run.failure
        when metric.completed_count = 0 and metric.failed_count > 0
            then 'completed 0, failed ' || coalesce(try_cast(metric.failed_count as bigint)::varchar, metric.failed_count::varchar)
        when metric.completed_count = 0 then 'completed 0'
    end as status_reason,
    run.repeat_number + 1 as repeat_index,
    run.started_at,
    run.ended_at,
    run.is_zone_assumed,
    metric.duration_s
from bench_serving_run as run
left join bench_serving_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
