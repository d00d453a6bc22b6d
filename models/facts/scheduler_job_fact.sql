/*
description: >
  One row per job of a scheduler: a Slurm job, or a Kueue Workload. If several files state a job, the row is read from the one
  that knows most of its end; transitions of a Workload are merged from all its snapshots. A wait that did not happen, or is
  not known, is NULL; so is one that would be negative, and has_negative_wait is true.
grain: [scheduler, cluster, scheduler_run_id]
collects: scheduler_job
columns:
  scheduler: {type: varchar, description: "slurm, kueue", tests: [not_null]}
  cluster: {type: varchar, description: "The cluster, where the evidence names it"}
  scheduler_run_id: {type: varchar, description: "The scheduler's name for the job: Slurm's job number, the Workload's uid", tests: [not_null]}
  displayed_id: {type: varchar, description: "As the scheduler shows it: of a task of a Slurm array ARRAY_TASK, of a Workload namespace/name"}
  job_uid: {type: varchar, description: "The Kubernetes object that the Workload is of; NULL for Slurm"}
  job_name: {type: varchar, description: "Name"}
  user_name: {type: varchar, description: "User; NULL: not stated"}
  namespace: {type: varchar, description: "Kubernetes namespace; NULL for Slurm"}
  queue: {type: varchar, description: "Slurm's partition, Kueue's LocalQueue"}
  cluster_queue: {type: varchar, description: "Kueue's ClusterQueue; NULL for Slurm"}
  resource_flavor: {type: varchar, description: "Kueue's flavors, each once, with commas"}
  zone: {type: varchar, description: "Zone in which machines were provisioned for the job"}
  state: {type: varchar, description: "Slurm's state (RUNNING, COMPLETED); of a Workload pending, quota_reserved, admitted, running, evicted, preempted, finished, deactivated or deleted"}
  state_reason: {type: varchar, description: "Why, in the scheduler's words"}
  submitted_at: {type: timestamptz, unit: UTC, description: "Submission, or creation of the Workload"}
  eligible_at: {type: timestamptz, unit: UTC, description: "When it could first have started: no dependency, no hold"}
  quota_reserved_at: {type: timestamptz, unit: UTC, description: "First known reservation of quota"}
  admitted_at: {type: timestamptz, unit: UTC, description: "First known admission"}
  started_at: {type: timestamptz, unit: UTC, description: "Start; of a Workload when all its pods were ready. NULL: not started, or not known"}
  ended_at: {type: timestamptz, unit: UTC, description: "End; NULL: not ended, or not known"}
  elapsed_s: {type: double, unit: s, description: "How long it ran, as the scheduler counts it, without the time suspended; NULL: not ended, or not stated"}
  suspended_s: {type: double, unit: s, description: "How long it was suspended; NULL: not stated"}
  is_zone_assumed: {type: boolean, description: "Whether the times' zone was assumed, not stated"}
  queue_wait_s: {type: double, unit: s, description: "From submission to quota; for Slurm, which has none, to start", tests: [{range: {min: 0}}]}
  admission_wait_s: {type: double, unit: s, description: "From submission to admission, with queue_wait_s; NULL for Slurm", tests: [{range: {min: 0}}]}
  admission_checks_wait_s: {type: double, unit: s, description: "From quota to admission: the time of admission checks, such as provisioning; NULL for Slurm", tests: [{range: {min: 0}}]}
  has_negative_wait: {type: boolean, feed: false, description: "Whether a wait would be negative: the times contradict each other, or their zones do", tests: [not_null]}
  is_history_lost: {type: boolean, description: "Whether the job was evicted before the first transition that is known, so that its first waits are not"}
  node_count: {type: bigint, description: "Nodes"}
  gpu_count: {type: bigint, description: "GPUs of all nodes"}
  nodes: {type: varchar, description: "Nodes, as the scheduler compresses them"}
  exit_code: {type: bigint, description: "Exit code, once it has ended"}
  evictions: {type: bigint, description: "How often it was evicted, preempted or started again, as far as the evidence shows; NULL: not stated"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle that the row is read from", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where the job is in it", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long", tests: [not_null]}
*/
select
    job.scheduler,
    job.cluster,
    job.scheduler_run_id,
    job.displayed_id,
    job.job_uid,
    job.job_name,
    job.user_name,
    job.namespace,
    job.queue,
    job.cluster_queue,
    job.resource_flavor,
    job.zone,
    job.state,
    job.state_reason,
    job.submitted_at,
    job.eligible_at,
    job.quota_reserved_at,
    job.admitted_at,
    job.started_at,
    job.ended_at,
    job.elapsed_s,
    job.suspended_s,
    job.is_zone_assumed,
    case when job.queue_wait_s >= 0 then job.queue_wait_s end as queue_wait_s,
    case when job.admission_wait_s >= 0 then job.admission_wait_s end as admission_wait_s,
    case when job.admission_checks_wait_s >= 0 then job.admission_checks_wait_s end as admission_checks_wait_s,
    coalesce(least(job.queue_wait_s, job.admission_wait_s, job.admission_checks_wait_s) < 0, false) as has_negative_wait,
    job.is_history_lost,
    job.node_count,
    job.gpu_count,
    job.nodes,
    job.exit_code,
    job.evictions,
    job.artifact_manifest_digest,
    job.raw_path,
    job.raw_offset,
    job.raw_length
from feed.scheduler_job as job
qualify
    row_number() over (
        partition by
            job.scheduler,
            job.cluster,
            job.scheduler_run_id
        order by
            job.ended_at is not null desc,
            job.started_at is not null desc,
            job.submitted_at desc nulls last,
            job.artifact_manifest_digest,
            job.raw_path,
            job.raw_offset
    ) = 1
