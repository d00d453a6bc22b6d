/*
description: >
  One row per test of a cluster run whose manifest names its nodes: they are the testbed.
grain: [run_id, artifact_manifest_digest]
feeds: cluster_region
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    manifest.nodes as cluster
from aisp_run as run
inner join aisp_manifest as manifest
    on manifest.artifact_manifest_digest = run.artifact_manifest_digest
where manifest.nodes is not null
