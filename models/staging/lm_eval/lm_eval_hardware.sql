/*
description: >
  One row per file of results that InferenceX stated a deployment beside: its accelerators.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    system_name,
    accelerator as gpu_model,
    accelerator_count as gpu_count
from lm_eval_deployment
