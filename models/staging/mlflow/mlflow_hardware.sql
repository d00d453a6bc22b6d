/*
description: >
  One row per run of lightgbm-benchmark that states its machine. The tags are those of node 0; the other nodes of a run
  are not described, so a run of several nodes has only its number of nodes.
grain: [run_id, artifact_manifest_digest]
feeds: hardware_topology
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    run.node_count,
    case when coalesce(run.node_count, 1) = 1 then nullif(trim(tag.processor), '') end as cpu_model,
    case when coalesce(run.node_count, 1) = 1 then tag.cpu_count end as cpu_logical_count,
    case when coalesce(run.node_count, 1) = 1 then tag.system_memory || ' GiB' end as host_memory
from mlflow_run as run
inner join mlflow_tag as tag
    on
        tag.run_id = run.run_id
        and tag.artifact_manifest_digest = run.artifact_manifest_digest
where tag.is_lightgbm_benchmark
