/*
description: >
  One row per run: the platform it ran on. A submission states no region.
grain: [run_id, artifact_manifest_digest]
feeds: cluster_region
*/
select
    run_id,
    artifact_manifest_digest,
    submitter as cluster,
    platform as node_pool
from mlperf_training_run
