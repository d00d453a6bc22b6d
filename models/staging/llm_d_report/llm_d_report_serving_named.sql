/*
description: "One row per run of llm-d: what the names in its path tell of how the model was served."
grain: [run_id, artifact_manifest_digest]
feeds: serving_named
*/
select
    run_id,
    artifact_manifest_digest,
    named_framework as framework,
    named_system as system_name,
    named_accelerator as accelerator,
    named_accelerator_count as accelerator_count,
    named_tensor_parallel as tensor_parallel,
    named_data_parallel as data_parallel,
    named_pipeline_parallel as pipeline_parallel,
    named_expert_parallel as expert_parallel,
    named_topology as topology,
    named_precision as precision
from llm_d_report_run
