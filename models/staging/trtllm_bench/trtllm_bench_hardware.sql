/*
description: >
  One row per report of trtllm-bench: its GPUs. The report names the first; all are alike.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    metric.accelerator as gpu_model,
    run.accelerator_count as gpu_count
from trtllm_bench_run as run
inner join trtllm_bench_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
