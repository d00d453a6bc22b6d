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
    json_extract_string(workload_document, '$.config."api/type"') as protocol,
    json_extract_string(workload_document, '$.config."data/type"') as prompt_distribution
from inference_perf_run
