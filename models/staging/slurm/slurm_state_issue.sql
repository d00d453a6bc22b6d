/*
description: >
  One row per record of a Slurm job that has ended in two states by its records: one submission and one start, but
  COMPLETED here and FAILED there. The job is shown with the state of the record that scheduler_job_fact names.
feeds: issue
*/
with ended as (
    select
        job.cluster,
        job.job_id,
        job.submitted_at,
        job.started_at,
        string_agg(distinct job.state, ' and ' order by job.state) as states
    from slurm_job_statement as job
    inner join slurm_job_state as known
        on known.state = job.state
    where
        job.step is null
        and known.has_ended
        -- A job that was put back into the queue has a record of each time that it ran.
        and job.state not in ('REQUEUED', 'REVOKED', 'PREEMPTED')
    group by
        job.cluster,
        job.job_id,
        job.submitted_at,
        job.started_at
    having count(distinct job.state) > 1
)

select
    job.artifact_manifest_digest,
    job.raw_path,
    job.raw_offset,
    job.raw_length,
    'warning' as severity,
    'states-disagree' as code,
    'job ' || job.job_id || ' has ended as ' || ended.states || ' by its records; this one states ' || job.state as message,
    null::bigint as line_number,
    null::varchar as run_id
from slurm_job_statement as job
inner join ended
    on
        ended.cluster is not distinct from job.cluster
        and ended.job_id = job.job_id
        and ended.submitted_at is not distinct from job.submitted_at
        and ended.started_at is not distinct from job.started_at
inner join slurm_job_state as known
    on known.state = job.state
where
    job.step is null
    and known.has_ended
