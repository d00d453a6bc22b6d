/*
description: >
  One row per report of trtllm-bench: the workload that it was asked to run.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    run.workload_spec_digest,
    run.workload_document,
    metric.model,
    metric.input_length::varchar as prompt_distribution,
    metric.output_length::varchar as completion_distribution
from trtllm_bench_run as run
inner join trtllm_bench_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
