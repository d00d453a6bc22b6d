/*
description: >
  One row per run with a summary: the serving software and the version of the tool. The record of InferenceX that restates the
  run states the software, else the names of the server's own metrics (`vllm:…`) or names in the path do. genai-perf's backend
  is what the client was told. If only the image's tag states a version, that version is taken.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
with stated as (
    select
        run_id,
        artifact_manifest_digest,
        'aiperf ' || max(value) filter (where key = 'aiperf_version') as runtime_version
    from genai_perf_entry
    group by
        run_id,
        artifact_manifest_digest
),

server as (
    select
        run_id,
        artifact_manifest_digest,
        min(nullif(regexp_extract(metric, '^(vllm|sglang|lmdeploy):', 1), '')) as first_framework,
        max(nullif(regexp_extract(metric, '^(vllm|sglang|lmdeploy):', 1), '')) as last_framework
    from genai_perf_server_metric
    group by
        run_id,
        artifact_manifest_digest
)

select
    stated.run_id,
    stated.artifact_manifest_digest,
    coalesce(deployment.framework, if(server.first_framework = server.last_framework, server.first_framework, null), run.named_framework) as framework,
    nullif(
        regexp_extract(deployment.image, '(?:vllm|sglang|tensorrt-llm)[^:]*:v?([0-9]+\.[0-9][A-Za-z0-9.]*)', 1), ''
    ) as framework_version,
    stated.runtime_version,
    deployment.image as server_version,
    deployment.image as software_stack
from stated
inner join genai_perf_run as run
    on
        run.run_id = stated.run_id
        and run.artifact_manifest_digest = stated.artifact_manifest_digest
left join server
    on
        server.run_id = stated.run_id
        and server.artifact_manifest_digest = stated.artifact_manifest_digest
left join genai_perf_deployment as deployment
    on
        deployment.run_id = stated.run_id
        and deployment.artifact_manifest_digest = stated.artifact_manifest_digest
