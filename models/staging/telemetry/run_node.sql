/*
description: >
  One row per run and place that it ran on, as its evidence states: a node, a GPU, a pod or a job. Names of nodes are as
  written.
grain: [run_id, node_name, gpu_uuid, rank_id, pod_uid, job_uid, stated_by]
collects: run_node
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle that states it", tests: [not_null]}
  node_name: {type: varchar, description: "A node"}
  gpu_uuid: {type: varchar, description: "A GPU"}
  rank_id: {type: bigint, description: "The rank that ran there"}
  pod_uid: {type: varchar, description: "A pod"}
  job_uid: {type: varchar, description: "A job of the scheduler"}
  stated_by: {type: varchar, description: "allocation: a scheduler gave the place to the run's job; NULL: the run's own evidence"}
*/
select distinct stated.*
from feed.run_node as stated
inner join run_bundle
    on
        run_bundle.run_id = stated.run_id
        and run_bundle.artifact_manifest_digest = stated.artifact_manifest_digest
where coalesce(stated.node_name, stated.gpu_uuid, stated.pod_uid, stated.job_uid) is not null
