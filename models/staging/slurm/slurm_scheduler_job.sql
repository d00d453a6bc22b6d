/*
description: >
  One row per Slurm job and record of it, for scheduler_job_fact. A job of which only steps are stated has no submission, so
  that its wait is not known; it has the worst state of its steps, the start of the first and the end of the last. Several submissions are attempts. Of a record with a zone and one without they are one attempt if they
  differ by what time zones do: quarters of an hour, up to 14 hours. Slurm has no quota to wait for: the whole wait, from submission to start, is the queue's.
feeds: scheduler_job
*/
with attempt as (
    select
        cluster,
        job_id,
        is_zone_assumed,
        count(distinct submitted_at) as attempts,
        max(submitted_at) as last_submitted_at
    from slurm_job_statement
    where step is null
    group by
        cluster,
        job_id,
        is_zone_assumed
),

of_job as (
    select
        cluster,
        job_id,
        max(last_submitted_at) as last_submitted_at,
        if(
            epoch(max(last_submitted_at) - min(last_submitted_at)) % 900 = 0 and epoch(max(last_submitted_at) - min(last_submitted_at)) <= 14 * 3600,
            max(attempts),
            sum(attempts)
        )::bigint as attempts
    from attempt
    where last_submitted_at is not null
    group by
        cluster,
        job_id
),

ranked as (
    select
        job.*,
        coalesce(of_job.attempts, 0) as attempts,
        row_number() over (
            partition by
                job.cluster,
                job.job_id
            order by
                job.step is null desc,
                (
                    job.submitted_at = attempt.last_submitted_at
                    and epoch(of_job.last_submitted_at - job.submitted_at) % 900 = 0
                    and epoch(of_job.last_submitted_at - job.submitted_at) <= 14 * 3600
                ) desc nulls last,
                -- Of steps without their job: one that failed, else one that has not ended.
                case when job.step is not null then known.is_failure end desc nulls last,
                case when job.step is not null then known.has_ended end,
                job.ended_at is not null desc,
                job.started_at is not null desc,
                case job.source when 'sacct' then 0 when 'scontrol' then 1 else 2 end,
                case job.step when 'extern' then 0 when 'batch' then 1 else 2 end,
                job.artifact_manifest_digest,
                job.raw_path,
                job.raw_offset
        ) as place
    from slurm_job_statement as job
    left join attempt
        on
            attempt.cluster is not distinct from job.cluster
            and attempt.job_id = job.job_id
            and attempt.is_zone_assumed is not distinct from job.is_zone_assumed
    left join of_job
        on
            of_job.cluster is not distinct from job.cluster
            and of_job.job_id = job.job_id
    left join slurm_job_state as known
        on known.state = job.state
),

whole as (
    select
        cluster,
        job_id,
        max(restarts) as restarts,
        min(started_at) filter (where step is not null) as first_step_at,
        if(
            count(*) filter (where step is not null and ended_at is null) = 0, max(ended_at) filter (where step is not null), null
        ) as last_step_at,
        max(nodes) filter (where step is null) as nodes,
        max(gpu_count) filter (where step is null) as gpu_count
    from slurm_job_statement
    group by
        cluster,
        job_id
)

select
    'slurm' as scheduler,
    job.cluster,
    job.job_id as scheduler_run_id,
    job.displayed_id,
    job.job_name,
    job.user_name,
    job.partition as queue,
    job.state,
    job.state_reason,
    job.submitted_at,
    job.eligible_at,
    if(job.step is null, job.started_at, whole.first_step_at) as started_at,
    if(job.step is null, job.ended_at, whole.last_step_at) as ended_at,
    if(job.step is null, job.elapsed_s, null) as elapsed_s,
    if(job.step is null, job.suspended_s, null) as suspended_s,
    job.is_zone_assumed,
    epoch(job.started_at) - epoch(job.submitted_at) as queue_wait_s,
    job.node_count,
    coalesce(job.gpu_count, whole.gpu_count) as gpu_count,
    coalesce(job.nodes, whole.nodes) as nodes,
    job.exit_code,
    case when job.step is null then greatest(whole.restarts, nullif(job.attempts, 0) - 1, nullif((job.state = 'REQUEUED')::int, 0)) end as evictions,
    job.artifact_manifest_digest,
    job.raw_path,
    job.raw_offset,
    job.raw_length
from ranked as job
inner join whole
    on
        whole.cluster is not distinct from job.cluster
        and whole.job_id = job.job_id
where job.place = 1
