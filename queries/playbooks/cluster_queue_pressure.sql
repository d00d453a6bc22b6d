/*
description: The queue's quota was used up while the job waited
playbook: scheduler_backpressure
evidence: snapshots of Kueue's ClusterQueue, LocalQueue and Workload objects, or squeue, sinfo and scontrol of Slurm while the job waited
order: 1
*/
with job as (
    select
        scheduled.run_id,
        scheduled.queue_wait_s,
        coalesce(scheduled.queue_wait_s, 0) / nullif(coalesce(scheduled.admission_wait_s, scheduled.queue_wait_s), 0) as queued_share,
        found.scheduler,
        found.scheduler_run_id,
        found.queue,
        found.cluster_queue,
        found.submitted_at,
        coalesce(found.quota_reserved_at, found.started_at) as got_it_at
    from run_scheduling as scheduled
    inner join explained
        on
            explained.run_id = scheduled.run_id
            and explained.role = 'run'
    inner join scheduler_job_fact as found
        on
            found.scheduler = scheduled.scheduler
            and found.cluster is not distinct from scheduled.cluster
            and found.scheduler_run_id = scheduled.scheduler_run_id
),

seen as (
    select
        job.queued_share,
        job.queue_wait_s,
        queue.*,
        max(queue.pending_workloads) over (partition by queue.scheduler) as most_pending,
        coalesce(queue.reserved, queue.used) / nullif(queue.nominal_quota, 0) as used_share
    from scheduler_queue_fact as queue
    inner join job
        on
            job.scheduler = queue.scheduler
            and (queue.cluster_queue = job.cluster_queue or (queue.queue = job.queue and queue.scheduler = 'slurm'))
            and (queue.sampled_at is null or queue.sampled_at between job.submitted_at and job.got_it_at)
    where queue.queue is null or queue.scheduler = 'slurm'
),

told as (
    select
        job.queued_share,
        waited.message,
        min(waited.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(waited.raw_path, waited.artifact_manifest_digest || waited.raw_path) as raw_path
    from job
    inner join kueue_wait_statement as waited
        on
            waited.workload = job.scheduler_run_id
            and waited.kind = 'quota'
            and coalesce(waited.stated_at <= job.got_it_at, true)
    where waited.message is not null
    group by
        job.queued_share,
        waited.message
    union all
    select
        job.queued_share,
        run_event.message,
        min(run_event.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(run_event.raw_path, run_event.artifact_manifest_digest || run_event.raw_path) as raw_path
    from job
    inner join run_event
        on
            run_event.run_id = job.run_id
            and run_event.object_kind = 'Workload'
            and run_event.phase = 'waiting'
    where run_event.code = 'Pending'
    group by
        job.queued_share,
        run_event.message
)

select
    concat_ws(' ', 'queue', coalesce(cluster_queue, queue), resource_flavor, resource) as subject,
    used_share >= 0.9 and coalesce(most_pending > 0, true) and coalesce(queue_wait_s >= 60, true) as is_found,
    -- A snapshot without a time may be of another hour.
    coalesce(queued_share, 1) * if(sampled_at is null, 0.5, 1) as score,
    printf('%.4g of %.4g %s were in use', coalesce(reserved, used), nominal_quota, coalesce(resource, 'units'))
    || coalesce(printf(' and %d jobs waited', most_pending), '')
    || if(sampled_at is null, '; when that was is not stated', strftime(sampled_at at time zone 'UTC', ' at %Y-%m-%d %H:%M:%S UTC')) as statement,
    coalesce(reserved, used) as observed,
    nominal_quota as expected,
    resource as unit,
    artifact_manifest_digest,
    raw_path
from seen
where
    used_share is not null
    -- The quota that is used most: a queue waits for its scarcest resource.
    and (scheduler = 'slurm' or resource like '%gpu%' or used_share >= 0.9)
union all
select
    'quota' as subject,
    regexp_matches(message, '(?i)insufficient (unused )?quota|didn.t fit|exceeds? .*quota') as is_found,
    coalesce(queued_share, 1) as score,
    message as statement,
    null as observed,
    null as expected,
    null as unit,
    artifact_manifest_digest,
    raw_path
from told
