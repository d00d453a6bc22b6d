/*
description: >
  One row per Slurm job and node that it had, from all records of the job's last attempt.
feeds: allocation
*/
select
    'slurm' as scheduler,
    job.cluster,
    job.scheduler_run_id,
    entry.node_name,
    max(entry.gpu_indexes) as gpu_indexes,
    min(job.started_at) as started_at,
    min(job.ended_at) as ended_at,
    bool_or(job.is_zone_assumed) as is_zone_assumed,
    min(entry.artifact_manifest_digest) as artifact_manifest_digest
from slurm_allocation_entry as entry
inner join slurm_job_statement as stated
    on
        stated.artifact_manifest_digest = entry.artifact_manifest_digest
        and stated.raw_path = entry.raw_path
        and stated.raw_offset = entry.raw_offset
inner join scheduler_job_fact as job
    on
        job.scheduler = 'slurm'
        and job.scheduler_run_id = stated.job_id
        and job.cluster is not distinct from stated.cluster
        and coalesce(stated.submitted_at, job.submitted_at) is not distinct from job.submitted_at
where coalesce(stated.started_at >= job.started_at, true)
group by
    job.cluster,
    job.scheduler_run_id,
    entry.node_name
