/*
description: >
  One row per run of vLLM's client or a fork: the accelerators it used. Their number is the product of its parallel
  sizes.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    system_name,
    accelerator as gpu_model,
    accelerator_count as gpu_count
from bench_serving_run
