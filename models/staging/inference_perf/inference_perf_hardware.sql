/*
description: >
  One row per run: the accelerators that its manifests request, over all replicas. If the models differ, all are
  listed. The number is NULL if one manifest's number is not known or 0, because a workload that is scaled down serves
  nothing.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    string_agg(distinct accelerator, ', ' order by accelerator) as gpu_model,
    case
        when count(*) = count(accelerators_per_replica * replicas) then nullif(sum(accelerators_per_replica * replicas order by accelerators_per_replica * replicas)::bigint, 0)
    end as gpu_count
from inference_perf_server
group by
    run_id,
    artifact_manifest_digest
