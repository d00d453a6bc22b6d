/*
description: >
  One row per value of a check: how each of its tests ended, and the figures of each point. A log to which later checks
  are appended states its earlier checks again; one that was copied while its check ran states fewer points.
grain: [run_id, artifact_manifest_digest, name]
feeds: run_statement
*/
select
    run_id,
    artifact_manifest_digest,
    raw_path,
    'test ' || test_index as name,
    if(status <> 'unknown', concat_ws(' ', status, status_reason), null) as value
from fabric_check_test
union all
select
    run_id,
    artifact_manifest_digest,
    min(raw_path) as raw_path,
    concat_ws(' ', 'test', test_index, 'point', point_index, scope_name, placement, direction) as name,
    string_agg(
        distinct concat_ws(
            ', ', status, 'bytes ' || message_bytes, 'us ' || time_us, 'algbw ' || alg_bandwidth_gb_per_s,
            'busbw ' || bus_bandwidth_gb_per_s, 'wrong ' || wrong_count, 'error ' || max_error,
            'bandwidth ' || bandwidth, 'peak ' || bandwidth_peak, 'mean latency ' || latency_mean,
            'p99 latency ' || latency_p99, 'per s ' || io_per_s, 'gflop/s ' || gflop_per_s, 'errors ' || error_count,
            'lost % ' || lost_pct, 'retransmits ' || retransmit_count
        ),
        ' | ' order by concat_ws(
            ', ', status, 'bytes ' || message_bytes, 'us ' || time_us, 'algbw ' || alg_bandwidth_gb_per_s,
            'busbw ' || bus_bandwidth_gb_per_s, 'wrong ' || wrong_count, 'error ' || max_error,
            'bandwidth ' || bandwidth, 'peak ' || bandwidth_peak, 'mean latency ' || latency_mean,
            'p99 latency ' || latency_p99, 'per s ' || io_per_s, 'gflop/s ' || gflop_per_s, 'errors ' || error_count,
            'lost % ' || lost_pct, 'retransmits ' || retransmit_count
        )
    ) as value
from fabric_check_point
group by
    run_id,
    artifact_manifest_digest,
    test_index,
    point_index,
    scope_name,
    placement,
    direction
