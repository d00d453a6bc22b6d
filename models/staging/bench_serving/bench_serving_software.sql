/*
description: >
  One row per run of vLLM's client or a fork: the server it drove, if that is stated. If only the image's tag states a
  version, that version is taken.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run_id,
    artifact_manifest_digest,
    driver_version,
    cuda_version,
    framework,
    coalesce(
        framework_version,
        nullif(regexp_extract(image, '(?:vllm|sglang|tensorrt-llm)[^:]*:v?([0-9]+\.[0-9][A-Za-z0-9.]*)', 1), '')
    ) as framework_version,
    coalesce(
        framework || ' ' || framework_version,
        image
    ) as server_version,
    nullif(concat_ws(', ', image, 'torch ' || torch_version), '') as software_stack
from bench_serving_run
