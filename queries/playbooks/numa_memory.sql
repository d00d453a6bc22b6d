/*
description: More memory is on another NUMA node than the CPU that asked for it
playbook: [low_gpu_utilization, slow_host]
evidence: NUMA counters of the node, which wh record samples, and a run to compare with
order: 7
part: input
*/
with placed as (
    select
        explained.role,
        explained.run_id,
        telemetry.node_name,
        sum(telemetry.value_delta) filter (where telemetry.metric = 'numa_remote_page_count') / nullif(sum(telemetry.value_delta), 0) as share,
        bool_and(telemetry.is_supported) as is_supported,
        min(telemetry.note) as note,
        min(telemetry.artifact_manifest_digest) as artifact_manifest_digest,
        min(telemetry.raw_path) as raw_path
    from run_telemetry as telemetry
    inner join explained using (run_id)
    where telemetry.metric in ('numa_remote_page_count', 'numa_local_page_count')
    group by
        explained.role,
        explained.run_id,
        telemetry.node_name
),

usual as (
    select median(share) as share
    from placed
    where
        role = 'baseline'
        and is_supported
)

select
    concat_ws(' ', 'node', placed.node_name) as subject,
    if(placed.is_supported and usual.share is not null, placed.share >= 0.2 and placed.share > usual.share + 0.1, null) as is_found,
    -- How much slower remote memory is depends on the machine, and how often it is used on the program.
    0.3 as score,
    printf('%.3g %% of the pages were allocated on another NUMA node', 100 * placed.share)
    || coalesce(printf(', in the baseline %.3g %%', 100 * usual.share), '; the baseline has no such figure')
    || coalesce(placed.note, '') as statement,
    100 * placed.share as observed,
    100 * usual.share as expected,
    '%' as unit,
    placed.artifact_manifest_digest,
    placed.raw_path
from placed
cross join usual
where
    placed.role = 'run'
    and placed.share is not null
