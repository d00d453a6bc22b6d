/*
description: >
  One row per recorded run and GPU of its machine, by which an exporter's samples find the run even if they name the node
  otherwise. The recorder asked for all GPUs of the machine: the run may have used fewer.
grain: [run_id, artifact_manifest_digest, gpu_uuid]
feeds: run_node
*/
select
    gpu.run_id,
    run.artifact_manifest_digest,
    node.hostname as node_name,
    gpu.gpu_uuid
from recorded_gpu as gpu
inner join recorded_node as node
    on
        node.run_id = gpu.run_id
        and node.artifact_manifest_digest = gpu.artifact_manifest_digest
inner join recorded_run as run
    on
        run.run_id = node.run_id
        and (node.is_part or run.artifact_manifest_digest = node.artifact_manifest_digest)
