/*
description: >
  One row per run that states no times of its own and names one job of a scheduler with a start and an end: it ran while
  the job did.
grain: [run_id, artifact_manifest_digest]
feeds: run_window
*/
with named as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        job.started_at,
        job.ended_at,
        job.is_zone_assumed
    from stated_run as run
    inner join scheduler_job_fact as job
        on
            job.scheduler_run_id = run.scheduler_run_id
            or job.displayed_id = run.scheduler_run_id
            or job.job_uid = run.job_uid
    where
        run.started_at is null
        and job.started_at is not null
        and job.ended_at is not null
)

select
    run_id,
    artifact_manifest_digest,
    'run' as window_kind,
    min(started_at) as window_start,
    max(ended_at) as window_end,
    bool_or(is_zone_assumed) as is_zone_assumed
from named
group by
    run_id,
    artifact_manifest_digest
having count(*) = 1
