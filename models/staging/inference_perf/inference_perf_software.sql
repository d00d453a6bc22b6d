/*
description: >
  One row per run: the serving software of its manifests, else of names in its path. The image's tag is its version, and the image's name gives
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
    run.run_id,
    run.artifact_manifest_digest,
    nullif(regexp_extract(image.image, '@(sha256:[0-9a-f]+)$', 1), '') as image_digest,
    coalesce(
        nullif(regexp_extract(
            lower(image.image), '(vllm|sglang|text-generation-inference|tensorrt-llm|tensorrtllm|lmdeploy|llm-d)', 1
        ), ''),
        run.named_framework
    ) as framework,
    nullif(regexp_extract(image.image, ':v?([0-9][^:/@]*)(@.*)?$', 1), '') as framework_version,
    image.image as server_version,
    image.software_stack
from inference_perf_run as run
left join image
    on
        image.run_id = run.run_id
        and image.artifact_manifest_digest = run.artifact_manifest_digest
where coalesce(image.image, run.named_framework) is not null
