/*
description: One row per report that describes engines, their accelerators over all replicas. The model is NULL where they differ.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    case when count(distinct accelerator) = 1 then min(accelerator) end as gpu_model,
    case
        when count(*) = count(accelerator_count) then sum(accelerator_count * coalesce(replicas, 1))::bigint
    end as gpu_count,
    case when count(distinct accelerator_memory) = 1 then min(accelerator_memory) || ' GB' end as gpu_memory
from llm_d_report_engine
group by
    run_id,
    artifact_manifest_digest
