/*
description: >
  One row per node and observation of it: whether it could take work, what it is, and its accelerators. nvidia-smi does not name
  its node: node_name is NULL then.
grain: [source, artifact_manifest_digest, raw_path, raw_offset, node_name]
collects: node_state
columns:
  source: {type: varchar, description: "kubernetes, slurm, nvidia_smi", tests: [not_null]}
  node_name: {type: varchar, description: "The node; NULL: the evidence does not name it"}
  observed_at: {type: timestamptz, unit: UTC, description: "When it was observed; NULL: not stated. For Kubernetes the last heartbeat"}
  is_zone_assumed: {type: boolean, description: "Whether the zone of observed_at was assumed"}
  is_ready: {type: boolean, description: "Whether it could take work; NULL: not known"}
  state: {type: varchar, description: "State in the words of the source: IDLE, MIXED+DRAIN; Ready, NotReady, Unknown"}
  reason: {type: varchar, description: "Why"}
  region: {type: varchar, description: "Region"}
  zone: {type: varchar, description: "Zone"}
  node_pool: {type: varchar, description: "Node pool; of Slurm its partitions, with commas"}
  instance_type: {type: varchar, description: "Instance type"}
  gpu_product: {type: varchar, description: "GPU as the source names it"}
  gpu_count: {type: bigint, description: "GPUs of the node; NULL: not stated"}
  allocated_gpu_count: {type: bigint, description: "GPUs that jobs have"}
  allocatable_gpu_count: {type: bigint, description: "GPUs that can be given to pods; fewer than gpu_count: some are unhealthy or set aside"}
  gpu_driver: {type: varchar, description: "Driver of the GPUs"}
  cuda_version: {type: varchar, description: "Newest CUDA that the driver supports"}
  kernel_version: {type: varchar, description: "Kernel"}
  is_unschedulable: {type: boolean, description: "Whether it was cordoned"}
  taints: {type: varchar, description: "Taints, with commas"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where in it", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long", tests: [not_null]}
*/
select
    source,
    node_name,
    observed_at,
    is_zone_assumed,
    is_ready,
    state,
    reason,
    region,
    zone,
    node_pool,
    instance_type,
    gpu_product,
    gpu_count,
    allocated_gpu_count,
    allocatable_gpu_count,
    gpu_driver,
    cuda_version,
    kernel_version,
    is_unschedulable,
    taints,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from feed.node_state
