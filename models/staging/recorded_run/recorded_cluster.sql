/*
description: >
  One row per recorded run: the host it ran on.
grain: [run_id, artifact_manifest_digest]
feeds: cluster_region
*/
select
    run_id,
    artifact_manifest_digest,
    hostname as cluster
from recorded_run
