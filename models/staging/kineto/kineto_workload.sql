/*
description: One row per job with traces, with its name, world size and backend.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select distinct
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document
from kineto_trace
