/*
description: >
  One row per test of a fabric check with an average bus bandwidth, beside its peers: tests of the same workload on
  the same cluster with the same number of nodes and ranks. A straggler (a slow pair or node) is far below the median
  of its peers.
grain: [run_id, test_index]
columns:
  run_id: {tests: [not_null]}
  test_index: {tests: [not_null]}
  avg_bus_bandwidth_gb_per_s: {tests: [not_null]}
  peer_count: {type: bigint, description: "How many tests are compared, this one included", tests: [not_null]}
  peer_median_gb_per_s: {type: double, unit: GB/s, description: "Median of the peers' average bus bandwidth", tests: [not_null]}
  ratio_to_median: {type: double, description: "This test's share of the median; NULL where that is zero"}
*/
with measured as (
    select
        outcome.run_id,
        outcome.test_index,
        cluster_region_dim.cluster,
        run.workload_spec_digest,
        outcome.test,
        outcome.nodes,
        outcome.node_count,
        outcome.rank_count,
        outcome.avg_bus_bandwidth_gb_per_s
    from fabric_outcome_fact as outcome
    inner join benchmark_run_fact as run
        on run.run_id = outcome.run_id
    left join cluster_region_dim
        on cluster_region_dim.cluster_region_key = run.cluster_region_key
    where
        outcome.scope = 'test'
        and outcome.avg_bus_bandwidth_gb_per_s is not null
        and run.state = 'admitted'
),

peers as (
    select
        cluster,
        workload_spec_digest,
        node_count,
        rank_count,
        count(*) as peer_count,
        median(avg_bus_bandwidth_gb_per_s) as peer_median_gb_per_s
    from measured
    group by
        cluster,
        workload_spec_digest,
        node_count,
        rank_count
)

select
    measured.run_id,
    measured.test_index,
    measured.cluster,
    measured.test,
    measured.nodes,
    measured.node_count,
    measured.rank_count,
    measured.avg_bus_bandwidth_gb_per_s,
    peers.peer_count,
    peers.peer_median_gb_per_s,
    measured.avg_bus_bandwidth_gb_per_s / nullif(peers.peer_median_gb_per_s, 0) as ratio_to_median
from measured
inner join peers
    on
        peers.cluster is not distinct from measured.cluster
        and peers.workload_spec_digest = measured.workload_spec_digest
        and peers.node_count is not distinct from measured.node_count
        and peers.rank_count is not distinct from measured.rank_count
