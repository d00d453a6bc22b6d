/*
description: >
  One row per run of vLLM's client or a fork: the workload that it was asked to run.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    json_extract_string(workload_document, '$.model') as model,
    json_extract_string(workload_document, '$.precision') as precision,
    json_extract_string(workload_document, '$.protocol') as protocol,
    try_cast(json_extract_string(workload_document, '$.max_concurrency') as bigint) as concurrency_point,
    coalesce(json_extract_string(workload_document, '$.input_length'), json_extract_string(workload_document, '$.dataset')) as prompt_distribution,
    json_extract_string(workload_document, '$.output_length') as completion_distribution
from bench_serving_run
