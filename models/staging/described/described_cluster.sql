/*
description: >
  One row per run of a described format that states where it ran.
grain: [run_id, artifact_manifest_digest]
feeds: cluster_region
*/
select
    run_id,
    artifact_manifest_digest,
    cluster
from described_run
where cluster is not null
