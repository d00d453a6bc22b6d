/*
description: The run's job waited for at least a minute, and half again as long as those of the baseline or the other jobs of its queue
playbook: scheduler_backpressure
evidence: jobs of Slurm (sacct, scontrol, squeue) or Workloads of Kueue, and a run that names its job or pod
is_symptom: true
*/
with waited as (
    select
        explained.role,
        scheduled.*,
        coalesce(scheduled.admission_wait_s, scheduled.queue_wait_s) as wait_s
    from run_scheduling as scheduled
    inner join explained using (run_id)
    where coalesce(scheduled.queue_wait_s, scheduled.admission_wait_s) is not null
),

usual as (
    select median(wait_s) as wait_s
    from waited
    where role = 'baseline'
),

queue as (
    select
        own.run_id,
        median(coalesce(other.admission_wait_s, other.queue_wait_s)) as wait_s,
        count(*) as jobs
    from waited as own
    inner join scheduler_job_fact as other
        on
            other.scheduler = own.scheduler
            and other.cluster is not distinct from own.cluster
            and other.queue = own.queue
            and other.scheduler_run_id <> own.scheduler_run_id
    where
        own.role = 'run'
        and coalesce(other.queue_wait_s, other.admission_wait_s) is not null
    group by own.run_id
)

select
    concat_ws(' ', 'job', own.scheduler_run_id, 'in queue ' || own.queue) as subject,
    if(
        coalesce(usual.wait_s, queue.wait_s) is null, null,
        own.wait_s >= 60 and own.wait_s > 1.5 * coalesce(usual.wait_s, queue.wait_s)
    ) as is_found,
    1 - coalesce(usual.wait_s, queue.wait_s) / nullif(own.wait_s, 0) as score,
    printf('it waited for %.4g s', own.wait_s)
    || case
        when usual.wait_s is not null then printf(', the jobs of the baseline for %.4g s', usual.wait_s)
        when queue.wait_s is not null
            then printf(', the %d other jobs of the queue for %.4g s (median)', queue.jobs, queue.wait_s)
        else '; there is nothing to compare it with'
    end as statement,
    own.wait_s as observed,
    coalesce(usual.wait_s, queue.wait_s) as expected,
    's' as unit,
    job.artifact_manifest_digest,
    job.raw_path
from waited as own
left join scheduler_job_fact as job
    on
        job.scheduler = own.scheduler
        and job.cluster is not distinct from own.cluster
        and job.scheduler_run_id = own.scheduler_run_id
cross join usual
left join queue
    on queue.run_id = own.run_id
where own.role = 'run'
