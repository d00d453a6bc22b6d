/*
description: >
  One row per result that states a workload: the indicator, its parameters and the script, as a recording of the same
  script has them; of a result without an indicator, the script.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    json_extract_string(workload_document, '$.indicator_name') as model,
    'command' as protocol
from thoth_run
where workload_spec_digest is not null
