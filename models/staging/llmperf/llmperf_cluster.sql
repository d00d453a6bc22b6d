/*
description: >
  One row per run: who served it, if the user named that in the run's metadata.
grain: [run_id, artifact_manifest_digest]
feeds: cluster_region
*/
select
    run_id,
    artifact_manifest_digest,
    framework as cluster
from llmperf_metric
