/*
description: >
  One row per run: the labels that its hot metrics have beside their own. What the evidence does not state is NULL.
materialized: view
grain: [run_id]
columns:
  gpu_model: {type: varchar, description: "The accelerator by the rules of staging.accelerator_rule; else as written"}
  scheduler_path: {type: varchar, description: "How the run was scheduled"}
*/
select
    run.run_id,
    run.benchmark_case_id,
    cluster.cluster,
    cluster.region,
    cluster.node_pool,
    coalesce(hardware.accelerator_name, hardware.gpu_model) as gpu_model,
    coalesce(run.scheduler_path, cluster.scheduler_path) as scheduler_path
from benchmark_run_fact as run
left join cluster_region_dim as cluster
    on cluster.cluster_region_key = run.cluster_region_key
left join hardware_topology_dim as hardware
    on hardware.hardware_topology_key = run.hardware_topology_key
