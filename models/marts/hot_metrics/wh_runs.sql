/*
description: >
  One row: the runs of the warehouse by state, whenever they started.
materialized: view
role: hot_metrics
columns:
  admitted: {type: bigint, description: "Runs that count"}
  retracted: {type: bigint, description: "Runs that were retracted"}
  superseded: {type: bigint, description: "Runs that another run supersedes"}
  in_conflict: {type: bigint, description: "Runs that bundles state differently, until wh settle chooses a bundle"}
*/
select
    count(*) filter (state = 'admitted') as admitted,
    count(*) filter (state = 'retracted') as retracted,
    count(*) filter (state = 'superseded') as superseded,
    count(*) filter (has_conflict) as in_conflict
from benchmark_run_fact
