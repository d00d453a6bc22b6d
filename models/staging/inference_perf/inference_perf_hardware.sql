/*
description: >
  One row per run, the accelerators that its manifests ask for, over all replicas.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    case when count(distinct accelerator) = 1 then min(accelerator) end as gpu_model,
    case when count(*) = count(replicas) then sum(accelerators_per_replica * replicas)::bigint end as gpu_count
from inference_perf_server
group by
    run_id,
    artifact_manifest_digest
