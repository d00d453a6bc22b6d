/*
description: >
  One row per test of a fabric in a run of a described format, and per point that it measured.
grain: [run_id, artifact_manifest_digest, test_index, point_index]
feeds: fabric_outcome
*/
with peak as (
    select
        run_id,
        artifact_manifest_digest,
        test_index,
        max(bus_bandwidth_gb_per_s) as peak_bus_bandwidth_gb_per_s
    from described_fabric
    where status = 'measured'
    group by
        run_id,
        artifact_manifest_digest,
        test_index
)

select
    point.run_id,
    point.artifact_manifest_digest,
    run.family as tool,
    point.test,
    point.test_index,
    point.scope,
    point.scope_name,
    point.point_index,
    point.placement,
    point.direction,
    point.status,
    point.status_reason,
    run.node_name as nodes,
    run.node_count,
    point.rank_count,
    point.source,
    point.target,
    point.gpu_number,
    point.gpu_model,
    point.gpu_bus_id,
    point.gpu_uuid,
    point.message_bytes,
    point.element_count,
    point.element_type,
    point.redop,
    point.root,
    point.iterations,
    point.time_us,
    point.alg_bandwidth_gb_per_s,
    point.bus_bandwidth_gb_per_s,
    case when point.scope = 'test' then peak.peak_bus_bandwidth_gb_per_s end as peak_bus_bandwidth_gb_per_s,
    point.wrong_count,
    point.max_error,
    point.bandwidth_gb_per_s,
    point.peak_bandwidth_gb_per_s,
    point.rank_bandwidth_gb_per_s,
    point.message_rate_per_s,
    point.latency_kind,
    point.latency_mean_us,
    point.latency_min_us,
    point.latency_max_us,
    point.latency_stdev_us,
    point.latency_p50_us,
    point.latency_p90_us,
    point.latency_p95_us,
    point.latency_p99_us,
    point.latency_p999_us,
    point.io_per_s,
    point.gflop_per_s,
    point.error_count,
    point.temperature_c,
    point.power_w,
    point.retransmit_count,
    point.jitter_ms,
    point.lost_pct,
    point.figures_digest
from described_fabric as point
inner join described_run as run
    on
        run.run_id = point.run_id
        and run.artifact_manifest_digest = point.artifact_manifest_digest
left join peak
    on
        peak.run_id = point.run_id
        and peak.artifact_manifest_digest = point.artifact_manifest_digest
        and peak.test_index = point.test_index
