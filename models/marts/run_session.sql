/*
description: >
  One row per run: the session that it was measured in. The runs of one session share what it did to them, so they are fewer independent
  observations than they are runs.
materialized: view
grain: [run_id]
columns:
  session: {type: varchar, description: "Scheduler job; else day (UTC) and testbed; else bundle, which the gate takes for no session"}
*/
select
    run_id,
    coalesce(
        'job ' || job_uid,
        'day ' || strftime(started_at, '%Y-%m-%d') || coalesce(' on ' || cluster_region_key, ''),
        'bundle ' || artifact_manifest_digest
    ) as session
from benchmark_run_fact
