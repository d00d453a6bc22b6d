/*
description: One row per job with traces whose GPUs are all of one model.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    min(gpu_model) as gpu_model
from kineto_trace
group by
    run_id,
    artifact_manifest_digest
having
    count(distinct gpu_model) = 1
    and count(gpu_model) = count(*)
