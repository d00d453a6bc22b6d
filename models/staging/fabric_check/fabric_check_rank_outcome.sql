/*
description: >
  One row per rank and test of each run: which GPU of which node took part in the test, and how the test ended.
grain: [run_id, artifact_manifest_digest, test_index, rank_id]
feeds: fabric_outcome
*/
select
    endpoint.run_id,
    endpoint.artifact_manifest_digest,
    of_test.tool,
    of_test.test,
    of_test.test_index,
    'rank' as scope,
    'rank ' || endpoint.number::varchar as scope_name,
    of_test.status,
    of_test.status_reason,
    of_test.nodes,
    of_test.node_count,
    of_test.rank_count,
    endpoint.number as rank_id,
    endpoint.node_name,
    endpoint.device as gpu_number,
    endpoint.model as gpu_model,
    endpoint.bus_id as gpu_bus_id,
    of_test.avg_bus_bandwidth_gb_per_s
from fabric_check_endpoint as endpoint
inner join fabric_check_test_outcome as of_test
    on
        of_test.run_id = endpoint.run_id
        and of_test.artifact_manifest_digest = endpoint.artifact_manifest_digest
where endpoint.kind = 'rank'
