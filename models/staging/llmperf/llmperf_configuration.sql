/*
description: >
  One row per run: the lengths that it asked for. LLMPerf drives services and does not state how they serve a model.
grain: [run_id, artifact_manifest_digest]
feeds: serving_configuration
*/
select
    run_id,
    artifact_manifest_digest,
    try_cast(json_extract_string(workload_document, '$.mean_input_tokens') as bigint) as input_length,
    try_cast(json_extract_string(workload_document, '$.mean_output_tokens') as bigint) as output_length,
    'record' as stated_in
from llmperf_run
where
    json_extract_string(workload_document, '$.mean_input_tokens') is not null
    or json_extract_string(workload_document, '$.mean_output_tokens') is not null
