/*
description: >
  One row per admitted run, of whatever kind: when it started, how long it took, and whether it failed.
materialized: view
role: hot_metrics
grain: [run_id]
columns:
  run_id: {type: varchar, description: "The run"}
  benchmark_case_id: {type: varchar, description: "What is measured, whoever measured it"}
  cluster: {type: varchar, description: "Who or what runs the machines"}
  region: {type: varchar, description: "Region"}
  node_pool: {type: varchar, description: "Node pool, platform or system category"}
  gpu_model: {type: varchar, description: "The accelerator"}
  scheduler_path: {type: varchar, description: "How the run was scheduled"}
  started_at: {type: timestamptz, unit: UTC, description: "Start of the run"}
  duration_s: {type: double, unit: s, description: "Wall time of the measured part"}
  failed: {type: boolean, description: "1: the run failed, was interrupted or is invalid; 0: it succeeded"}
  in_conflict: {type: boolean, description: "1: bundles have different bytes for this run, and wh settle has not chosen one"}
*/
select
    run_label.*,
    run.started_at,
    run.duration_s,
    case
        when run.status in ('failed', 'interrupted', 'invalid') then true
        when run.status = 'succeeded' then false
    end as failed,
    run.has_conflict as in_conflict
from benchmark_run_fact as run
inner join run_label
    on run_label.run_id = run.run_id
where run.state = 'admitted'
