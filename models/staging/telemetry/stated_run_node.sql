/*
description: One row per run, with the place that its own row states.
grain: [run_id, artifact_manifest_digest]
feeds: run_node
*/
select
    run_id,
    artifact_manifest_digest,
    node_name,
    gpu_uuid,
    pod_uid,
    job_uid
from stated_run
