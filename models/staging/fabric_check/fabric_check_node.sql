/*
description: >
  One row per run and node of its ranks, and per GPU that its tool names: telemetry that was sampled there while the run
  ran belongs to it, if its log states times.
grain: [run_id, artifact_manifest_digest, node_name, gpu_uuid]
feeds: run_node
*/
select distinct
    run_id,
    artifact_manifest_digest,
    node_name,
    uuid as gpu_uuid
from fabric_check_endpoint
where coalesce(node_name, uuid) is not null
