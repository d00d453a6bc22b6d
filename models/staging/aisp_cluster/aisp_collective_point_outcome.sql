/*
description: >
  One row per message size of a collective.
grain: [run_id, artifact_manifest_digest, point_index]
feeds: fabric_outcome
*/
select
    point.run_id,
    point.artifact_manifest_digest,
    coalesce(run.tool, 'aisp_cluster') as tool,
    coalesce(run.program, run.test) as test,
    1::bigint as test_index,
    'point' as scope,
    point.point_index,
    'out_of_place' as placement,
    if(point.wrong_count > 0, 'failed', 'measured') as status,
    run.nodes,
    run.node_count,
    run.rank_count,
    point.message_bytes,
    point.element_count,
    point.element_type,
    point.redop,
    point.root,
    if(point.wrong_count > 0, null, point.time_us) as time_us,
    if(point.wrong_count > 0, null, point.alg_bandwidth_gb_per_s) as alg_bandwidth_gb_per_s,
    if(point.wrong_count > 0, null, point.bus_bandwidth_gb_per_s) as bus_bandwidth_gb_per_s,
    point.wrong_count
from aisp_collective_point as point
inner join aisp_run as run
    on
        run.run_id = point.run_id
        and run.artifact_manifest_digest = point.artifact_manifest_digest
