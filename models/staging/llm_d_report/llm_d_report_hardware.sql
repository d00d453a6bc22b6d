/*
description: >
  One row per report that describes engines, their accelerators over all replicas. Models that differ are listed. A
  count of 0 is what a converter writes that does not know it.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run_id,
    artifact_manifest_digest,
    string_agg(distinct accelerator, ', ' order by accelerator) as gpu_model,
    case
        when count(*) = count(nullif(accelerator_count, 0)) then sum(accelerator_count * coalesce(replicas, 1))::bigint
    end as gpu_count,
    case when count(distinct accelerator_memory) = 1 then min(accelerator_memory) || ' GB' end as gpu_memory
from llm_d_report_engine
group by
    run_id,
    artifact_manifest_digest
