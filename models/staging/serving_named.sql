/*
description: >
  One row per run of a serving benchmark: what the names in its path tell of how the model was served. Tools other than vLLM's client,
  whose ingestor reads them itself, state none of it, or only a part.
grain: [run_id, artifact_manifest_digest]
*/
with named as (
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
    from genai_perf_run
    union all by name
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
    from guidellm_run
    union all by name
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
    from inference_perf_run
    union all by name
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
    union all by name
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
    from llmperf_run
    union all by name
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
    from mlperf_endpoints_run
    union all by name
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
    from trtllm_bench_run
)

select
    *,
    nullif(concat_ws(
        ' ', topology, 'TP' || tensor_parallel, 'DP' || data_parallel, 'PP' || pipeline_parallel, 'EP' || expert_parallel
    ), '') as deployment_model
from named
