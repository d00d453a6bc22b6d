/*
description: >
  One row per recorded run and GPU of its machine, by which an exporter's samples find the run even if they name the node
  otherwise. The recorder asked for all GPUs of the machine: the run may have used fewer.
grain: [run_id, artifact_manifest_digest, gpu_uuid]
feeds: run_node
*/
select
    gpu.run_id,
    gpu.artifact_manifest_digest,
    run.hostname as node_name,
    gpu.gpu_uuid
from recorded_gpu as gpu
inner join recorded_run as run
    on
        run.run_id = gpu.run_id
        and run.artifact_manifest_digest = gpu.artifact_manifest_digest
