/*
description: >
  One row per test of each run, including tests that failed or were waived, with the averages that its tool states.
grain: [run_id, artifact_manifest_digest, test_index]
feeds: fabric_outcome
*/
with stated as (
    select
        run_id,
        artifact_manifest_digest,
        test_index,
        max(value_number) filter (where key = 'Avg bus bandwidth') as avg_bus_bandwidth_gb_per_s,
        try_cast(max(value_number) filter (where key = 'Out of bounds values') as bigint) as wrong_count,
        try_cast(max(value_number) filter (where key = 'Reducing maxBytes to') as bigint) as reduced_to_bytes
    from fabric_check_entry
    where
        source = 'log'
        and test_index is not null
    group by
        run_id,
        artifact_manifest_digest,
        test_index
),

peak as (
    select
        run_id,
        artifact_manifest_digest,
        test_index,
        max(bus_bandwidth_gb_per_s) filter (where status = 'measured') as peak_bus_bandwidth_gb_per_s
    from fabric_check_point
    group by
        run_id,
        artifact_manifest_digest,
        test_index
)

select
    test.run_id,
    test.artifact_manifest_digest,
    run.tool,
    test.test,
    test.test_index,
    'test' as scope,
    test.status,
    test.status_reason,
    run.nodes,
    run.node_count,
    run.rank_count,
    stated.reduced_to_bytes,
    stated.avg_bus_bandwidth_gb_per_s,
    peak.peak_bus_bandwidth_gb_per_s,
    stated.wrong_count,
    test.figures_digest
from fabric_check_test as test
inner join fabric_check_run as run
    on
        run.run_id = test.run_id
        and run.artifact_manifest_digest = test.artifact_manifest_digest
left join stated
    on
        stated.run_id = test.run_id
        and stated.artifact_manifest_digest = test.artifact_manifest_digest
        and stated.test_index = test.test_index
left join peak
    on
        peak.run_id = test.run_id
        and peak.artifact_manifest_digest = test.artifact_manifest_digest
        and peak.test_index = test.test_index
