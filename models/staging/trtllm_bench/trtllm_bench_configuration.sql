/*
description: >
  One row per report of trtllm-bench: how the model was served, and the lengths that its dataset asks for.
grain: [run_id, artifact_manifest_digest]
feeds: serving_configuration
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    run.tensor_parallel as tensor_parallel_size,
    run.pipeline_parallel as pipeline_parallel_size,
    run.expert_parallel as expert_parallel_size,
    metric.precision,
    metric.server_flags,
    metric.input_length,
    metric.output_length,
    'report' as stated_in
from trtllm_bench_run as run
inner join trtllm_bench_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
