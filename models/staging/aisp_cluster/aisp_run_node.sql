/*
description: >
  One row per run and node that took part in it.
grain: [run_id, artifact_manifest_digest, node]
*/
select
    run_id,
    artifact_manifest_digest,
    unnest(string_split(nodes, ',')) as node
from aisp_run
where nodes is not null
