/*
description: One row per trace and kernel among those that took most of its time.
grain: [run_id, artifact_manifest_digest, raw_path, position]
feeds: kernel_time
*/
select
    run_id,
    artifact_manifest_digest,
    raw_path,
    rank,
    position,
    kernel,
    kind,
    launch_count,
    total_s,
    longest_s
from kineto_kernel
