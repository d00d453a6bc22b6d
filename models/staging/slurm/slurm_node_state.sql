/*
description: >
  One row per node in output of Slurm.
feeds: node_state
*/
select
    'slurm' as source,
    node.node_name,
    asked.sampled_at as observed_at,
    not (contains(node.state, 'DRAIN') or regexp_matches(node.state, '(^|\+)(DOWN|FAIL)')) as is_ready,
    node.state,
    node.reason,
    node.gpu_type as gpu_product,
    node.gpu_count,
    node.allocated_gpu_count,
    node.partitions as node_pool,
    node.artifact_manifest_digest,
    node.raw_path,
    node.raw_offset,
    node.raw_length
from slurm_node as node
left join slurm_asked as asked
    on
        asked.artifact_manifest_digest = node.artifact_manifest_digest
        and asked.raw_path = node.raw_path
