/*
description: >
  One row per run: the workload that the tool was asked to run. The number of nodes and ranks that took part is not
  part of it.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    json_extract_string(workload_document, '$.test') as model,
    json_extract_string(workload_document, '$.types[0]') as precision,
    json_extract_string(workload_document, '$.tool') as protocol
from fabric_check_run
