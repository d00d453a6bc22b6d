/*
description: One row per rank whose trace names its node.
grain: [run_id, artifact_manifest_digest, node_name, rank_id]
feeds: run_node
*/
select distinct
    run_id,
    artifact_manifest_digest,
    node_name,
    rank as rank_id
from kineto_trace
where node_name is not null
