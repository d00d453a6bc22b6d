/*
description: >
  One row per report: the workload it asked for. The columns are read from the frozen document itself.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    json_extract_string(workload_document, '$.model') as model,
    json_extract_string(workload_document, '$.data') as prompt_distribution
from guidellm_run
