/*
description: >
  One row per report of trtllm-bench: the version of TensorRT-LLM.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    'tensorrt-llm' as framework,
    metric.framework_version
from trtllm_bench_run as run
inner join trtllm_bench_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
