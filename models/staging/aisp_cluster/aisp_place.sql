/*
description: One row per run of a cluster run and node that took part in it, by the node's name.
grain: [run_id, artifact_manifest_digest, node_name]
feeds: run_node
*/
select
    run_id,
    artifact_manifest_digest,
    node as node_name
from aisp_run_node
