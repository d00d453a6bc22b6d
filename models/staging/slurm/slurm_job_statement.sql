/*
description: >
  One row per record of a job or step in output of Slurm: its times as far as they are the job's own. The start of a job
  that waits and the end of one that runs are the controller's estimates, and are NULL. So is the start of a job that was
  cancelled before it had nodes. A record without its cluster gets the only cluster that states a job of that number and
  time of submission.
grain: [artifact_manifest_digest, raw_path, raw_offset]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where the record is", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long it is", tests: [not_null]}
  source: {type: varchar, description: "The command: sacct, scontrol, squeue", tests: [not_null]}
  cluster: {type: varchar, description: "The cluster, where it is known"}
  job_id: {type: varchar, description: "Slurm's number of the job", tests: [not_null]}
  displayed_id: {type: varchar, description: "The job as Slurm shows it: of a task of an array ARRAY_TASK", tests: [not_null]}
  step: {type: varchar, description: "The step; NULL: the job itself"}
  job_name: {type: varchar, description: "Name"}
  user_name: {type: varchar, description: "User"}
  partition: {type: varchar, description: "Partition"}
  state: {type: varchar, description: "State, without flags"}
  state_reason: {type: varchar, description: "Why it is in that state"}
  submitted_at: {type: timestamptz, unit: UTC, description: "Submission; of a step NULL"}
  eligible_at: {type: timestamptz, unit: UTC, description: "When it could have started; of a step NULL"}
  started_at: {type: timestamptz, unit: UTC, description: "Start"}
  ended_at: {type: timestamptz, unit: UTC, description: "End"}
  elapsed_s: {type: double, unit: s, description: "How long it ran, as Slurm counts it, without the time suspended; once it has ended"}
  suspended_s: {type: double, unit: s, description: "How long it was suspended"}
  is_zone_assumed: {type: boolean, description: "Whether the zone of the times was assumed"}
  node_count: {type: bigint, description: "Nodes"}
  nodes: {type: varchar, description: "Nodes, as Slurm compresses them"}
  gpu_count: {type: bigint, description: "GPUs that it was given"}
  exit_code: {type: bigint, description: "Exit code, once it has ended"}
  restarts: {type: bigint, description: "How often it was started again"}
*/
with known_cluster as (
    select
        job_id,
        submitted_at,
        min(cluster) as cluster
    from slurm_job
    where cluster is not null and step is null
    group by
        job_id,
        submitted_at
    having count(distinct cluster) = 1
)

select
    job.artifact_manifest_digest,
    job.raw_path,
    job.raw_offset,
    job.raw_length,
    job.source,
    coalesce(job.cluster, known_cluster.cluster) as cluster,
    job.job_id,
    job.displayed_id,
    job.step,
    case when job.step is null then job.job_name end as job_name,
    job.user_name,
    job.partition,
    split_part(job.state, '+', 1) as state,
    job.state_reason,
    case when job.step is null then job.submitted_at end as submitted_at,
    case when job.step is null then job.eligible_at end as eligible_at,
    case
        when known.has_started or (
            known.has_started is null
            and not coalesce(job.nodes is null and job.started_at = job.ended_at, false)
        )
            then job.started_at
    end as started_at,
    case when known.has_ended then job.ended_at end as ended_at,
    case when known.has_ended then job.elapsed_s end as elapsed_s,
    job.suspended_s,
    job.is_zone_assumed,
    job.node_count,
    job.nodes,
    job.gpu_count,
    case when known.has_ended then job.exit_code end as exit_code,
    job.restarts
from slurm_job as job
left join slurm_job_state as known
    on known.state = split_part(job.state, '+', 1)
left join known_cluster
    on
        known_cluster.job_id = job.job_id
        and known_cluster.submitted_at = job.submitted_at
        and job.step is null
