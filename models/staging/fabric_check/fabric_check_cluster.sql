/*
description: >
  One row per run whose folder names its cluster.
grain: [run_id, artifact_manifest_digest]
feeds: cluster_region
*/
select
    run_id,
    artifact_manifest_digest,
    cluster
from fabric_check_run
where cluster is not null
