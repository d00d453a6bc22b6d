/*
description: >
  One row per run. Its duration is computed from completed requests and requests per minute. The summary is written at
  its end.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run.run_id,
    'llmperf/' || coalesce(json_extract_string(run.workload_document, '$.model'), 'unstated model') as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    run.raw_path as raw_folder,
    'llmperf' as family,
    'performance' as mode,
    case
        when outcome.completed_count > 0 then 'succeeded'
        when outcome.failed_count > 0 then 'failed'
        else 'unknown'
    end as status,
    to_timestamp(
        stated.written_at_s
        - case when stated.completed_per_min > 0 then stated.completed_count / stated.completed_per_min * 60 end
    ) as started_at,
    to_timestamp(stated.written_at_s) as ended_at,
    case when stated.written_at_s is not null then false end as is_zone_assumed,
    case when stated.completed_per_min > 0 then stated.completed_count / stated.completed_per_min * 60 end as duration_s
from llmperf_run as run
inner join llmperf_serving_outcome as outcome
    on
        outcome.run_id = run.run_id
        and outcome.artifact_manifest_digest = run.artifact_manifest_digest
left join llmperf_metric as stated
    on
        stated.run_id = run.run_id
        and stated.artifact_manifest_digest = run.artifact_manifest_digest
