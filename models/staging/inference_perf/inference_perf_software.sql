/*
description: >
  One row per run: the serving software of its manifests. The image's tag is its version, and the image's name gives
  the framework. If several containers request accelerators, the first by image name is taken, and software_stack
  lists all.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
with image as (
    select
        run_id,
        artifact_manifest_digest,
        min(image) as image,
        nullif(string_agg(distinct image || coalesce(' ' || arguments, ''), '; ' order by image || coalesce(' ' || arguments, '')), '')
            as software_stack
    from inference_perf_server
    group by
        run_id,
        artifact_manifest_digest
)

select
    run_id,
    artifact_manifest_digest,
    nullif(regexp_extract(image, '@(sha256:[0-9a-f]+)$', 1), '') as image_digest,
    nullif(
        regexp_extract(lower(image), '(vllm|sglang|text-generation-inference|tensorrt-llm|tensorrtllm|lmdeploy|llm-d)', 1), ''
    ) as framework,
    nullif(regexp_extract(image, ':v?([0-9][^:/@]*)(@.*)?$', 1), '') as framework_version,
    image as server_version,
    software_stack
from image
