/*
description: >
  One row per run that a record of InferenceX restates: the accelerators that the record states. AIPerf states none.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    system_name,
    accelerator as gpu_model,
    accelerator_count as gpu_count
from genai_perf_deployment
