/*
description: >
  One row per run: the platform it ran on. A submission states no region.
grain: [run_id, artifact_manifest_digest]
feeds: cluster_region
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    run.submitter as cluster,
    run.platform as node_pool,
    system.system_type as resource_flavor
from mlperf_inference_run as run
left join mlperf_inference_system as system
    on system.artifact_manifest_digest = run.artifact_manifest_digest
