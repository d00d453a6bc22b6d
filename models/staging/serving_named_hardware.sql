/*
description: >
  One row per run of a serving benchmark whose files describe no server, and whose path names accelerators or a system.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
with described as (
    select
        run_id,
        artifact_manifest_digest
    from genai_perf_deployment
    union
    select
        run_id,
        artifact_manifest_digest
    from inference_perf_server
    union
    select
        run_id,
        artifact_manifest_digest
    from llm_d_report_engine
    union
    select
        run_id,
        artifact_manifest_digest
    from trtllm_bench_run
)

select
    named.run_id,
    named.artifact_manifest_digest,
    named.system_name,
    named.accelerator as gpu_model,
    named.accelerator_count as gpu_count
from serving_named as named
left join described
    on
        described.run_id = named.run_id
        and described.artifact_manifest_digest = named.artifact_manifest_digest
where
    described.run_id is null
    and coalesce(named.system_name, named.accelerator, named.accelerator_count::varchar) is not null
