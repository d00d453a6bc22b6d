/*
description: >
  One row per run. Its reports state no date. The run succeeded if a request of any stage did.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
with outcome as (
    select
        run_id,
        artifact_manifest_digest,
        sum(completed_count) as completed_count,
        sum(failed_count) as failed_count
    from inference_perf_serving_outcome
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    'inference-perf/' || coalesce(json_extract_string(run.workload_document, '$.model'), 'unstated model') as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    regexp_replace(run.raw_path, '[^/]+$', '') as raw_folder,
    'inference_perf' as family,
    'performance' as mode,
    case
        when outcome.completed_count > 0 then 'succeeded'
        when outcome.failed_count > 0 then 'failed'
        else 'unknown'
    end as status
from inference_perf_run as run
left join outcome
    on
        outcome.run_id = run.run_id
        and outcome.artifact_manifest_digest = run.artifact_manifest_digest
