/*
description: >
  One row per run and node that a scheduler gave to the job or pod that the run names, while the run ran. A run that states
  no times ran from the start to the end of its job.
grain: [run_id, artifact_manifest_digest, node_name, gpu_uuid]
feeds: run_node
*/
with named as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        allocation.node_name,
        allocation.gpu_uuid,
        allocation.started_at,
        allocation.ended_at
    from stated_run as run
    inner join scheduler_allocation as allocation
        on
            allocation.scheduler_run_id = run.scheduler_run_id
            or allocation.job_uid = run.job_uid
            or allocation.pod_uid = run.pod_uid
)

select distinct
    named.run_id,
    named.artifact_manifest_digest,
    named.node_name,
    named.gpu_uuid,
    'allocation' as stated_by
from named
inner join feed.run_window as win
    on
        win.run_id = named.run_id
        and win.artifact_manifest_digest = named.artifact_manifest_digest
        and win.window_kind = 'run'
        and coalesce(named.started_at < win.window_end, true)
        and coalesce(named.ended_at > win.window_start, true)
