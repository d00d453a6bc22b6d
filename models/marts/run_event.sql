/*
description: >
  One row per run and event of a cluster that concerns it: of its pods, its job, the controllers of its pods, its GPUs or its nodes, while it ran,
  while its job waited, or in the hour before it started. An event of which no time is known is left out.
materialized: view
grain: [run_id, source, artifact_manifest_digest, raw_path, raw_offset, code, object_name, gpu_uuid, event_at]
columns:
  run_id: {type: varchar, description: "The run"}
  concerns: {type: varchar, description: "What of the run the event is about: pod, job, controller (a Deployment, an autoscaler or another object whose name the pod's name begins with), gpu or node"}
  phase: {type: varchar, description: "running, waiting (from submission of its job to the start), or before (the hour before the start)"}
  s_after_start: {type: double, unit: s, description: "From the start of the run to the event; below 0 it happened earlier"}
  source: {type: varchar, description: "Who reports the event"}
  severity: {type: varchar, description: "error, warning or info"}
  event_at: {type: timestamptz, unit: UTC, description: "When it first happened"}
  last_seen_at: {type: timestamptz, unit: UTC, description: "When it last happened"}
*/
with spell as (
    select
        win.run_id,
        win.window_start,
        win.window_end,
        coalesce(scheduled.submitted_at, win.window_start) as submitted_at
    from run_window as win
    left join run_scheduling as scheduled
        on scheduled.run_id = win.run_id
    where win.window_kind = 'run'
),

pod_uid_of_run as (
    select
        run_id,
        pod_uid
    from run_node
    where pod_uid is not null
    union
    select
        scheduled.run_id,
        allocation.pod_uid
    from run_scheduling as scheduled
    inner join scheduler_allocation as allocation
        on
            allocation.scheduler = scheduled.scheduler
            and allocation.cluster is not distinct from scheduled.cluster
            and allocation.scheduler_run_id = scheduled.scheduler_run_id
    where allocation.pod_uid is not null
),

pod as (
    select distinct
        own.run_id,
        own.pod_uid,
        allocation.pod_name,
        allocation.namespace,
        allocation.service_name
    from pod_uid_of_run as own
    left join scheduler_allocation as allocation
        on allocation.pod_uid = own.pod_uid
),

job_object as (
    select
        scheduled.run_id,
        scheduled.scheduler,
        unnest([job.scheduler_run_id, job.job_uid]) as object_id
    from run_scheduling as scheduled
    inner join scheduler_job_fact as job
        on
            job.scheduler = scheduled.scheduler
            and job.cluster is not distinct from scheduled.cluster
            and job.scheduler_run_id = scheduled.scheduler_run_id
),

concerned as (
    select
        pod.run_id,
        'pod' as concerns,
        1 as place,
        event.*
    from cluster_event_fact as event
    inner join pod
        on pod.pod_uid = event.pod_uid
    union all
    select
        job_object.run_id,
        'job' as concerns,
        2 as place,
        event.*
    from cluster_event_fact as event
    inner join job_object
        on
            job_object.object_id = event.object_id
            and (event.source = 'slurm') = (job_object.scheduler = 'slurm')
    union all
    select
        pod.run_id,
        'controller' as concerns,
        3 as place,
        event.*
    from cluster_event_fact as event
    inner join pod
        on
            pod.namespace = event.namespace
            and (starts_with(pod.pod_name, event.object_name || '-') or pod.service_name = event.object_name)
    where event.object_kind <> 'Pod'
    union all
    select
        place.run_id,
        'gpu' as concerns,
        4 as place,
        event.*
    from cluster_event_fact as event
    inner join (select distinct run_id, gpu_uuid from run_node where gpu_uuid is not null) as place
        on place.gpu_uuid = event.gpu_uuid
    union all
    select
        place.run_id,
        'node' as concerns,
        5 as place,
        event.*
    from cluster_event_fact as event
    inner join (select distinct run_id, lower(node_name) as node_name from run_node where node_name is not null) as place
        on place.node_name = lower(event.node_name)
)

select
    concerned.run_id,
    concerned.concerns,
    case
        when concerned.event_at <= spell.window_end and coalesce(concerned.last_seen_at, concerned.event_at) >= spell.window_start then 'running'
        when coalesce(concerned.last_seen_at, concerned.event_at) >= spell.submitted_at then 'waiting'
        else 'before'
    end as phase,
    (epoch_us(concerned.event_at) - epoch_us(spell.window_start)) / 1e6 as s_after_start,
    concerned.source,
    concerned.event_class,
    concerned.code,
    concerned.severity,
    concerned.event_at,
    concerned.last_seen_at,
    concerned.count,
    concerned.node_name,
    concerned.gpu_uuid,
    concerned.object_kind,
    concerned.object_name,
    concerned.message,
    concerned.artifact_manifest_digest,
    concerned.raw_path,
    concerned.raw_offset
from concerned
inner join spell
    on
        spell.run_id = concerned.run_id
        and concerned.event_at <= spell.window_end
        and coalesce(concerned.last_seen_at, concerned.event_at) >= least(spell.submitted_at, spell.window_start - interval 1 hour)
qualify
    row_number() over (
        partition by
            concerned.run_id,
            concerned.source,
            concerned.artifact_manifest_digest,
            concerned.raw_path,
            concerned.raw_offset,
            concerned.code,
            concerned.object_name,
            concerned.gpu_uuid,
            concerned.event_at
        order by concerned.place
    ) = 1
