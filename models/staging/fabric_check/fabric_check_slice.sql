/*
description: >
  One row per pair of nodes and per rank of a collective test whose log states when it began. A log without a time has
  rows only in fabric_outcome_fact.
grain: [run_id, artifact_manifest_digest, scope, scope_name]
feeds: telemetry_slice
*/
with timed as (
    select
        run_id,
        artifact_manifest_digest,
        started_at,
        ended_at
    from fabric_check_run
    where started_at is not null
)

select
    of_test.run_id,
    of_test.artifact_manifest_digest,
    'run' as window_kind,
    'network_bus_bandwidth_gb_per_s' as metric,
    'GB/s' as unit,
    'pair' as scope,
    of_test.nodes as scope_name,
    cast(null as varchar) as node_name,
    cast(null as bigint) as rank_id,
    timed.started_at as window_start,
    timed.ended_at as window_end,
    of_test.avg_bus_bandwidth_gb_per_s as value_mean
from fabric_check_test_outcome as of_test
inner join timed
    on
        timed.run_id = of_test.run_id
        and timed.artifact_manifest_digest = of_test.artifact_manifest_digest
where
    of_test.node_count = 2
    and of_test.avg_bus_bandwidth_gb_per_s is not null
union all
select
    of_rank.run_id,
    of_rank.artifact_manifest_digest,
    'run' as window_kind,
    'network_bus_bandwidth_gb_per_s' as metric,
    'GB/s' as unit,
    'rank' as scope,
    of_rank.scope_name,
    of_rank.node_name,
    of_rank.rank_id,
    timed.started_at as window_start,
    timed.ended_at as window_end,
    of_rank.avg_bus_bandwidth_gb_per_s as value_mean
from fabric_check_rank_outcome as of_rank
inner join timed
    on
        timed.run_id = of_rank.run_id
        and timed.artifact_manifest_digest = of_rank.artifact_manifest_digest
where of_rank.avg_bus_bandwidth_gb_per_s is not null
