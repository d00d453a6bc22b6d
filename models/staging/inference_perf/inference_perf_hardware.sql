/*
description: >
  One row per run, the accelerators that its manifests ask for, over all replicas. Models that differ are listed. The number is NULL if a
  manifest's own is unknown, or 0: a workload that is scaled down serves nothing.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    string_agg(distinct accelerator, ', ' order by accelerator) as gpu_model,
    case
        when count(*) = count(accelerators_per_replica * replicas) then nullif(sum(accelerators_per_replica * replicas)::bigint, 0)
    end as gpu_count
from inference_perf_server
group by
    run_id,
    artifact_manifest_digest
