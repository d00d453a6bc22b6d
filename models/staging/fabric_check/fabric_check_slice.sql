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
        ended_at,
        duration_s
    from fabric_check_run
    where started_at is not null
)

select
    of_test.run_id,
    of_test.artifact_manifest_digest,
    'pair' as scope,
    of_test.nodes as scope_name,
    cast(null as varchar) as node_name,
    cast(null as bigint) as rank_id,
    timed.started_at as window_start,
    timed.ended_at as window_end,
    timed.duration_s,
    of_test.avg_bus_bandwidth_gb_per_s as network_bus_bandwidth_gb_per_s
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
    'rank' as scope,
    of_rank.scope_name,
    of_rank.node_name,
    of_rank.rank_id,
    timed.started_at as window_start,
    timed.ended_at as window_end,
    timed.duration_s,
    of_rank.avg_bus_bandwidth_gb_per_s as network_bus_bandwidth_gb_per_s
from fabric_check_rank_outcome as of_rank
inner join timed
    on
        timed.run_id = of_rank.run_id
        and timed.artifact_manifest_digest = of_rank.artifact_manifest_digest
where of_rank.avg_bus_bandwidth_gb_per_s is not null
