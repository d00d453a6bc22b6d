/*
description: >
  One row per admitted run, of whatever kind: when it started, how long it took, and whether it failed.
materialized: view
role: hot_metrics
grain: [run_id]
columns:
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
