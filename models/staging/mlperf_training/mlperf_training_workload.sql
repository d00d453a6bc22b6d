/*
description: One row per run that states a workload. The columns are read from the frozen document itself.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    json_extract_string(workload_document, '$.benchmark') as model,
    'training' as protocol
from mlperf_training_run
where workload_spec_digest is not null
