/*
description: >
  One row per Workload, for scheduler_job_fact. The waits are those of its first admission. They are NULL if it was evicted before
  the first reservation that any snapshot shows: that one is a later attempt, and is_history_lost is true.
feeds: scheduler_job
*/
with moment as (
    select
        workload,
        min(first_at) filter (where type = 'QuotaReserved' and status = 'True') as quota_reserved_at,
        min(first_at) filter (where type = 'Admitted' and status = 'True') as admitted_at,
        min(first_at) filter (where type = 'PodsReady' and status = 'True') as started_at,
        max(last_at) filter (where type = 'Finished' and status = 'True') as ended_at,
        -- Evicted is False only after an eviction, from the next reservation on.
        min(first_at) filter (where type = 'Evicted') as evicted_at,
        max(transitions) filter (where type = 'Evicted' and status = 'True')
        + coalesce(
            min(first_at) filter (where type = 'Evicted' and status = 'False')
            < min(first_at) filter (where type = 'Evicted' and status = 'True'),
            false
        )::int as evictions,
        count(*) filter (where type = 'Evicted') as eviction_conditions
    from kueue_transition
    group by workload
),

provisioned as (
    select
        owner_uid,
        string_agg(distinct zone, ',' order by zone) as zone
    from kueue_provisioning
    where zone is not null
    group by owner_uid
),

known as (
    select
        snapshot.*,
        moment.quota_reserved_at,
        moment.admitted_at,
        moment.started_at,
        moment.ended_at,
        coalesce(moment.evicted_at <= moment.quota_reserved_at, false)
        or coalesce(snapshot.requeue_count > 0 and moment.evicted_at is null, false) as is_history_lost,
        greatest(snapshot.eviction_count, moment.evictions, least(moment.eviction_conditions, 1)) as evictions
    from kueue_snapshot as snapshot
    left join moment
        on moment.workload = snapshot.workload
)

select
    'kueue' as scheduler,
    job.workload as scheduler_run_id,
    concat_ws('/', job.namespace, job.name) as displayed_id,
    job.job_uid,
    coalesce(job.job_name, job.name) as job_name,
    job.namespace,
    job.queue,
    job.cluster_queue,
    job.flavors as resource_flavor,
    provisioned.zone,
    case
        when condition.state = 'finished' or job.ended_at is not null then 'finished'
        when job.deleted_at is not null then 'deleted'
        when not job.is_active then 'deactivated'
        else coalesce(condition.state, 'pending')
    end as state,
    condition.reason as state_reason,
    job.created_at as submitted_at,
    job.quota_reserved_at,
    job.admitted_at,
    job.started_at,
    job.ended_at,
    false as is_zone_assumed,
    case when not job.is_history_lost then epoch(job.quota_reserved_at) - epoch(job.created_at) end as queue_wait_s,
    case when not job.is_history_lost then epoch(job.admitted_at) - epoch(job.created_at) end as admission_wait_s,
    case when not job.is_history_lost then epoch(job.admitted_at) - epoch(job.quota_reserved_at) end as admission_checks_wait_s,
    job.is_history_lost,
    job.gpu_count,
    job.evictions,
    job.artifact_manifest_digest,
    job.raw_path,
    job.raw_offset,
    job.raw_length
from known as job
left join kueue_deciding_condition as condition
    on condition.workload = job.workload
left join provisioned
    on provisioned.owner_uid = job.uid
