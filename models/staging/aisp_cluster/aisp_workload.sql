/*
description: >
  One row per test of a cluster run: what it was asked to do. Nodes, and how many took part, are not in it.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    coalesce(json_extract_string(workload_document, '$.model[0]'), json_extract_string(workload_document, '$.model'), json_extract_string(workload_document, '$.test')) as model,
    json_extract_string(workload_document, '$.precision') as precision,
    'aisp_cluster' as protocol
from aisp_run
