/*
description: >
  One row per run: the workload that it was asked to run. The columns are read from the frozen document itself.
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
    json_extract_string(workload_document, '$.endpoint_type') as protocol,
    try_cast(json_extract_string(workload_document, '$.concurrency') as bigint) as concurrency_point,
    'mean ' || json_extract_string(workload_document, '$.isl')
    || coalesce(' stddev ' || json_extract_string(workload_document, '$.isl_stddev'), '') as prompt_distribution,
    'mean ' || json_extract_string(workload_document, '$.osl')
    || coalesce(' stddev ' || json_extract_string(workload_document, '$.osl_stddev'), '') as completion_distribution
from genai_perf_run
