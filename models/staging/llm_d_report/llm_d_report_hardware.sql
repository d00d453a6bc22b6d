/*
description: >
  One row per report that describes engines: their accelerators over all replicas. If the models differ, all are
  listed. The number is NULL if one of the engines states none, an impossible one, or one that its parallel sizes
  contradict.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    string_agg(distinct accelerator, ', ' order by accelerator) as gpu_model,
    case
        when count(*) = count(accelerator_count * replicas) then sum(accelerator_count * replicas order by accelerator_count * replicas)::bigint
    end as gpu_count,
    case when count(distinct accelerator_memory) = 1 then min(accelerator_memory) || ' GB' end as gpu_memory
from llm_d_report_engine
group by
    run_id,
    artifact_manifest_digest
