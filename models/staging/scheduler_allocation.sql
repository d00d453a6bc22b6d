/*
description: >
  One row per job or pod and node that it had, and GPU where that is known: who used which node when. A time that is not known
  is NULL, and is not the same as no end.
grain: [scheduler, cluster, scheduler_run_id, pod_uid, node_name, gpu_uuid]
collects: allocation
columns:
  scheduler: {type: varchar, description: "slurm, kueue, kubernetes", tests: [not_null]}
  cluster: {type: varchar, description: "The cluster, where the evidence names it"}
  scheduler_run_id: {type: varchar, description: "The job in scheduler_job_fact; NULL for a pod whose job is not there"}
  job_uid: {type: varchar, description: "The Kubernetes job of a pod"}
  pod_uid: {type: varchar, description: "The pod; NULL for Slurm"}
  pod_name: {type: varchar, description: "Its name"}
  namespace: {type: varchar, description: "Its namespace"}
  service_name: {type: varchar, description: "The service of KServe that the pod is of"}
  node_name: {type: varchar, description: "The node", tests: [not_null]}
  gpu_uuid: {type: varchar, description: "The GPU; NULL: not known"}
  gpu_indexes: {type: varchar, description: "The node's GPUs by their numbers, 0-3; NULL: not stated"}
  gpu_count: {type: bigint, description: "GPUs on this node; NULL: not stated"}
  started_at: {type: timestamptz, unit: UTC, description: "From when"}
  ended_at: {type: timestamptz, unit: UTC, description: "Until when; NULL: it had not ended, or that is not known"}
  is_zone_assumed: {type: boolean, description: "Whether the times' zone was assumed"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
*/
select
    scheduler,
    cluster,
    scheduler_run_id,
    job_uid,
    pod_uid,
    pod_name,
    namespace,
    service_name,
    node_name,
    gpu_uuid,
    gpu_indexes,
    gpu_count,
    started_at,
    ended_at,
    is_zone_assumed,
    artifact_manifest_digest
from feed.allocation
