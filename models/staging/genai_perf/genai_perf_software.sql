/*
description: >
  One row per run with a summary: the backend that was served and the version of the tool, if the tool or the record
  of InferenceX that restates the run states them. If only the image's tag states a version, that version is taken.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
with stated as (
    select
        run_id,
        artifact_manifest_digest,
        lower(max(value) filter (where key = 'input_config/backend' or key = 'input_config/endpoint/backend')) as framework,
        'aiperf ' || max(value) filter (where key = 'aiperf_version') as runtime_version
    from genai_perf_entry
    group by
        run_id,
        artifact_manifest_digest
)

select
    stated.run_id,
    stated.artifact_manifest_digest,
    coalesce(stated.framework, deployment.framework) as framework,
    nullif(
        regexp_extract(deployment.image, '(?:vllm|sglang|tensorrt-llm)[^:]*:v?([0-9]+\.[0-9][A-Za-z0-9.]*)', 1), ''
    ) as framework_version,
    stated.runtime_version,
    deployment.image as server_version,
    deployment.image as software_stack
from stated
left join genai_perf_deployment as deployment
    on
        deployment.run_id = stated.run_id
        and deployment.artifact_manifest_digest = stated.artifact_manifest_digest
