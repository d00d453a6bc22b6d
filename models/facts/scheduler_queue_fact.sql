/*
description: >
  One row per queue at a moment, and for Kueue per flavor and resource of it: what may be used, what is, and what waits. NULL
  where the evidence does not state it; a count of nodes by state is 0 where nodes are listed and none is in that state.
grain: [artifact_manifest_digest, raw_path, raw_offset, cluster_queue, queue, resource_flavor, resource]
collects: scheduler_queue
columns:
  scheduler: {type: varchar, description: "slurm, kueue", tests: [not_null]}
  cluster: {type: varchar, description: "The cluster, where the evidence names it"}
  queue: {type: varchar, description: "Slurm's partition, Kueue's LocalQueue; NULL: the whole controller, or a ClusterQueue"}
  cluster_queue: {type: varchar, description: "Kueue's ClusterQueue; NULL for Slurm"}
  namespace: {type: varchar, description: "Namespace of a LocalQueue"}
  resource_flavor: {type: varchar, description: "Kueue's flavor"}
  resource: {type: varchar, description: "The resource that the quota is of: nvidia.com/gpu, cpu; for Slurm gres/gpu"}
  nominal_quota: {type: double, description: "How much of it the queue may use, in its base unit; for Slurm what its nodes have"}
  used: {type: double, description: "How much of it admitted workloads use"}
  reserved: {type: double, description: "How much of it is reserved, admitted or not"}
  borrowed: {type: double, description: "How much of it is borrowed from other queues"}
  pending_workloads: {type: bigint, description: "Workloads or jobs that wait"}
  reserving_workloads: {type: bigint, description: "Workloads with quota that are not finished"}
  admitted_workloads: {type: bigint, description: "Workloads that are admitted, or jobs that run"}
  node_count: {type: bigint, description: "Nodes of the partition"}
  idle_nodes: {type: bigint, description: "Nodes without a job"}
  allocated_nodes: {type: bigint, description: "Nodes that are fully used"}
  mixed_nodes: {type: bigint, description: "Nodes that are partly used"}
  down_nodes: {type: bigint, description: "Nodes that are down"}
  drained_nodes: {type: bigint, description: "Nodes that take no new job"}
  sampled_at: {type: timestamptz, unit: UTC, description: "When; NULL: the evidence does not state it"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where in it", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long", tests: [not_null]}
*/
select
    scheduler,
    cluster,
    queue,
    cluster_queue,
    namespace,
    resource_flavor,
    resource,
    nominal_quota,
    used,
    reserved,
    borrowed,
    pending_workloads,
    reserving_workloads,
    admitted_workloads,
    node_count,
    idle_nodes,
    allocated_nodes,
    mixed_nodes,
    down_nodes,
    drained_nodes,
    sampled_at,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from feed.scheduler_queue
