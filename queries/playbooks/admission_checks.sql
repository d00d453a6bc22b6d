/*
description: Admission checks, such as provisioning of nodes, held the job back after it had its quota
playbook: scheduler_backpressure
evidence: snapshots of Kueue's Workload objects, with their conditions and admission checks
order: 2
*/
with waited as (
    select
        explained.role,
        scheduled.run_id,
        scheduled.queue_wait_s,
        scheduled.admission_checks_wait_s,
        job.scheduler_run_id,
        job.displayed_id,
        job.artifact_manifest_digest,
        job.raw_path
    from run_scheduling as scheduled
    inner join explained using (run_id)
    left join scheduler_job_fact as job
        on
            job.scheduler = scheduled.scheduler
            and job.cluster is not distinct from scheduled.cluster
            and job.scheduler_run_id = scheduled.scheduler_run_id
    where scheduled.admission_checks_wait_s is not null
),

usual as (
    select median(admission_checks_wait_s) as wait_s
    from waited
    where role = 'baseline'
),

stated as (
    select
        workload,
        string_agg(distinct name || coalesce(' (' || message || ')', ''), ', ' order by name || coalesce(' (' || message || ')', '')) as checks
    from kueue_wait_statement
    where kind = 'admission_check'
    group by workload
)

select
    concat_ws(' ', 'job', coalesce(own.displayed_id, own.run_id)) as subject,
    own.admission_checks_wait_s >= 30
    and own.admission_checks_wait_s >= 0.2 * coalesce(own.queue_wait_s + own.admission_checks_wait_s, own.admission_checks_wait_s)
    and coalesce(own.admission_checks_wait_s > 1.5 * usual.wait_s, true) as is_found,
    least(1, own.admission_checks_wait_s / nullif(coalesce(own.queue_wait_s, 0) + own.admission_checks_wait_s, 0)) as score,
    printf('from quota to admission it waited for %.4g s', own.admission_checks_wait_s)
    || coalesce(printf(', in the baseline for %.4g s', usual.wait_s), '')
    || coalesce('; its checks: ' || stated.checks, '') as statement,
    own.admission_checks_wait_s as observed,
    usual.wait_s as expected,
    's' as unit,
    own.artifact_manifest_digest,
    own.raw_path
from waited as own
cross join usual
left join stated
    on stated.workload = own.scheduler_run_id
where own.role = 'run'
