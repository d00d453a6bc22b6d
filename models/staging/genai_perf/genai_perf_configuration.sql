/*
description: One row per run, the lengths that its configuration asked for. Neither tool states how the model was served.
grain: [run_id, artifact_manifest_digest]
feeds: serving_configuration
*/
select
    run_id,
    artifact_manifest_digest,
    try_cast(json_extract_string(workload_document, '$.isl') as bigint) as input_length,
    try_cast(json_extract_string(workload_document, '$.osl') as bigint) as output_length,
    'configuration' as stated_in
from genai_perf_run
where
    json_extract_string(workload_document, '$.isl') is not null
    or json_extract_string(workload_document, '$.osl') is not null
