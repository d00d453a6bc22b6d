/*
description: The job was evicted, preempted or started again, so that it waited more than once
playbook: scheduler_backpressure
evidence: jobs of Slurm (sacct, scontrol) or Workloads of Kueue, or events of eviction and preemption
order: 5
*/
with job as (
    select
        concat_ws(' ', 'job', coalesce(found.displayed_id, found.scheduler_run_id)) as subject,
        found.evictions,
        found.state_reason,
        found.artifact_manifest_digest,
        found.raw_path
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
    where found.evictions is not null
)

select
    subject,
    evictions > 0 as is_found,
    -- With n evictions it waited n + 1 times.
    evictions / (evictions + 1) as score,
    printf('it was evicted, preempted or started again %d %s', evictions, if(evictions = 1, 'time', 'times')) as statement,
    evictions::double as observed,
    0::double as expected,
    'evictions' as unit,
    artifact_manifest_digest,
    raw_path
from job
union all
select
    concat_ws(' ', lower(run_event.object_kind), run_event.object_name) as subject,
    true as is_found,
    0.5 as score,
    concat(run_event.code, coalesce(': ' || run_event.message, ''), strftime(run_event.event_at at time zone 'UTC', ' at %Y-%m-%d %H:%M:%S UTC')) as statement,
    null as observed,
    null as expected,
    null as unit,
    run_event.artifact_manifest_digest,
    run_event.raw_path
from run_event
inner join explained
    on
        explained.run_id = run_event.run_id
        and explained.role = 'run'
where
    run_event.event_class in ('eviction', 'preemption')
    and run_event.concerns in ('pod', 'job')
