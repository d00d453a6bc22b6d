/*
description: >
  One row per report of trtllm-bench, which writes it when all requests have ended. It states no time.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run.run_id,
    'trtllm-bench/' || coalesce(metric.model, 'unstated model') as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    run.raw_path as raw_folder,
    'trtllm_bench' as family,
    'performance' as mode,
    case when metric.completed_count > 0 then 'succeeded' else 'unknown' end as status,
    metric.duration_s
from trtllm_bench_run as run
left join trtllm_bench_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
