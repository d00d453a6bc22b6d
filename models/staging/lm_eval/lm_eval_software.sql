/*
description: >
  One row per file of results: the version of the harness, and the server that InferenceX states beside it. If only the
  image's tag states a version, that version is taken.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    served.framework,
    nullif(regexp_extract(served.image, '(?:vllm|sglang|tensorrt-llm)[^:]*:v?([0-9]+\.[0-9][A-Za-z0-9.]*)', 1), '') as framework_version,
    'lm_eval ' || run.version as runtime_version,
    served.image as server_version,
    served.image as software_stack
from lm_eval_run as run
left join lm_eval_deployment as served
    on
        served.run_id = run.run_id
        and served.artifact_manifest_digest = run.artifact_manifest_digest
