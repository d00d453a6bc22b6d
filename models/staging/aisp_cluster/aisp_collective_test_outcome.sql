/*
description: >
  One row per collective that was swept over message sizes, with the largest bus bandwidth of its points.
grain: [run_id, artifact_manifest_digest]
feeds: fabric_outcome
*/
with measured as (
    select
        run_id,
        artifact_manifest_digest,
        max(bus_bandwidth_gb_per_s) filter (where coalesce(wrong_count, 0) = 0) as peak_bus_bandwidth_gb_per_s,
        try_cast(sum(wrong_count) as bigint) as wrong_count
    from aisp_collective_point
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    run.artifact_manifest_digest,
    coalesce(run.tool, 'aisp_cluster') as tool,
    coalesce(run.program, run.test) as test,
    1::bigint as test_index,
    'test' as scope,
    if(measured.wrong_count > 0, 'failed', 'measured') as status,
    run.nodes,
    run.node_count,
    run.rank_count,
    measured.peak_bus_bandwidth_gb_per_s,
    measured.wrong_count
from measured
inner join aisp_run as run
    on
        run.run_id = measured.run_id
        and run.artifact_manifest_digest = measured.artifact_manifest_digest
