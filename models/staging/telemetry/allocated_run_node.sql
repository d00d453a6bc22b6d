/*
description: >
  One row per run and node that a scheduler gave to the job or pod that the run names, while the run ran. A run that states
  no times ran from the start to the end of its job. If jobs of several clusters have the number that the run names, none counts.
grain: [run_id, artifact_manifest_digest, node_name, gpu_uuid]
feeds: run_node
*/
with job_name as (
    select
        scheduler,
        cluster,
        scheduler_run_id,
        unnest(list_distinct([scheduler_run_id, displayed_id])) as name
    from scheduler_job_fact
),

only_job as (
    select
        name,
        min(scheduler) as scheduler,
        min(cluster) as cluster,
        min(scheduler_run_id) as scheduler_run_id
    from job_name
    group by name
    having count(*) = 1
),

named as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        allocation.node_name,
        allocation.gpu_uuid,
        allocation.started_at,
        allocation.ended_at
    from stated_run as run
    left join only_job
        on only_job.name = run.scheduler_run_id
    inner join scheduler_allocation as allocation
        on
            (
                allocation.scheduler = only_job.scheduler
                and allocation.cluster is not distinct from only_job.cluster
                and allocation.scheduler_run_id = only_job.scheduler_run_id
            )
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
