/*
description: The tail is shorter where the same case ran on other nodes, such as a dedicated node pool
playbook: tail_latency_regression
evidence: runs of the same case, software and hardware in another node pool or cluster, each with its place stated (a declaration, or a model that feeds cluster_region)
order: 6
*/
with placed as (
    select
        run.run_id,
        run.benchmark_case_id,
        run.workload_spec_digest,
        run.software_version_key,
        run.hardware_topology_key,
        run.artifact_manifest_digest,
        run.raw_folder,
        nullif(
            concat_ws(', ', region.cluster, region.region, 'pool ' || coalesce(region.node_pool, node.node_pool), region.tenant_mode), ''
        ) as place
    from benchmark_run_fact as run
    left join cluster_region_dim as region
        on region.cluster_region_key = run.cluster_region_key
    left join (
        select
            node_name,
            min(node_pool) as node_pool
        from node_state_fact
        where source = 'kubernetes'
        group by node_name
    ) as node
        on node.node_name = run.node_name
    where
        run.status = 'succeeded'
        and run.state = 'admitted'
),

elsewhere as (
    select
        own.place as own_place,
        other.place,
        other.run_id,
        other.artifact_manifest_digest,
        other.raw_folder
    from placed as own
    inner join explained
        on
            explained.run_id = own.run_id
            and explained.role = 'run'
    inner join placed as other
        on
            other.benchmark_case_id = own.benchmark_case_id
            and other.workload_spec_digest is not distinct from own.workload_spec_digest
            and other.software_version_key is not distinct from own.software_version_key
            -- Faster hardware has a shorter tail anywhere.
            and other.hardware_topology_key is not distinct from own.hardware_topology_key
            and other.place <> own.place
),

compared as (
    select
        elsewhere.own_place,
        elsewhere.place,
        changed.metric,
        changed.point,
        changed.observed,
        changed.expected,
        median(other.value) as other,
        count(distinct other.run_id) as runs,
        min(elsewhere.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(elsewhere.raw_folder, elsewhere.artifact_manifest_digest || elsewhere.raw_folder) as raw_path
    from elsewhere
    inner join measurement as other
        on other.run_id = elsewhere.run_id
    inner join changed
        on
            changed.indicator = other.indicator
            and changed.metric = other.metric
            and changed.point = other.point
    where regexp_matches(changed.metric, '_p99_ms$')
    group by
        elsewhere.own_place,
        elsewhere.place,
        changed.metric,
        changed.point,
        changed.observed,
        changed.expected
)

select
    concat_ws(' ', metric, nullif(point, ''), 'on', place) as subject,
    observed >= 1.5 * expected and observed - other >= 0.5 * (observed - expected) as is_found,
    observed / nullif(other, 0) as slowdown,
    observed / nullif(other, 0) as slowdown_least,
    greatest(0, least(1, (observed - other) / nullif(observed - expected, 0))) as score,
    printf('%.4g ms here (%s), and %.4g ms there (median of %d %s)', observed, own_place, other, runs, if(runs = 1, 'run', 'runs')) as statement,
    observed,
    other as expected,
    'ms' as unit,
    artifact_manifest_digest,
    raw_path
from compared
