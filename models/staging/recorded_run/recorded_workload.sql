/*
description: >
  One row per recorded run that states a workload.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    -- From the document, as all columns of a workload: a repeat that failed printed no name.
    coalesce(json_extract_string(workload_document, '$.indicator_name'), json_extract_string(workload_document, '$.argv[0]')) as model,
    'command' as protocol
from recorded_run
where workload_spec_digest is not null
