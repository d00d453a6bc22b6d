/*
description: One row per run, who served it, where the user named one in the run's metadata.
grain: [run_id, artifact_manifest_digest]
feeds: cluster_region
*/
select
    run_id,
    artifact_manifest_digest,
    framework as cluster
from llmperf_metric
