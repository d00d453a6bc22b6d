/*
description: One row per profile and kernel among those that took most of its time.
grain: [run_id, artifact_manifest_digest, raw_path, position]
feeds: kernel_time
*/
select
    run_id,
    artifact_manifest_digest,
    raw_path,
    position,
    kernel,
    kind,
    launch_count,
    total_s,
    longest_s,
    sm_throughput_pct,
    memory_throughput_pct,
    dram_throughput_pct,
    achieved_occupancy_pct
from nsight_kernel
