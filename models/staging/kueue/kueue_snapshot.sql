/*
description: >
  One row per Workload: its newest snapshot. A resource version grows with each change of an object.
grain: [workload]
columns:
  workload: {type: varchar, description: "The Workload: its uid, or namespace/name of one without", tests: [not_null, unique]}
  uid: {type: varchar, description: "Its uid"}
  name: {type: varchar, description: "Name"}
  namespace: {type: varchar, description: "Namespace"}
  job_uid: {type: varchar, description: "The object that it is of"}
  job_name: {type: varchar, description: "Its name"}
  queue: {type: varchar, description: "LocalQueue"}
  cluster_queue: {type: varchar, description: "ClusterQueue that admitted it"}
  flavors: {type: varchar, description: "Flavors"}
  is_active: {type: boolean, description: "Whether it may be admitted"}
  gpu_count: {type: bigint, description: "GPUs"}
  created_at: {type: timestamptz, unit: UTC, description: "Creation"}
  deleted_at: {type: timestamptz, unit: UTC, description: "Deletion"}
  requeue_count: {type: bigint, description: "Requeues that its status counts"}
  eviction_count: {type: bigint, description: "Evictions that its status counts"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where in it", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long", tests: [not_null]}
*/
select
    coalesce(uid, concat_ws('/', namespace, name), raw_path || ':' || raw_offset) as workload,
    uid,
    name,
    namespace,
    coalesce(job_uid, owner_uid) as job_uid,
    owner_name as job_name,
    queue_name as queue,
    cluster_queue,
    flavors,
    is_active,
    gpu_count,
    created_at,
    deleted_at,
    requeue_count,
    eviction_count,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from kueue_workload
qualify
    row_number() over (
        partition by workload
        order by
            try_cast(resource_version as hugeint) desc nulls last,
            artifact_manifest_digest,
            raw_path,
            raw_offset
    ) = 1
