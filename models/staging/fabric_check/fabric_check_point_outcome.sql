/*
description: >
  One row per measured point of each test: a message size, a pair of ends, a GPU, a stream. What a tool prints is
  converted by its unit: MB of perftest are 2^20 bytes, KiB of fio are 2^10 bytes, Gb and bits are bits; iperf3 counts
  bits in thousands and Bytes in 1024s. A value with any other unit is left out.
grain: [run_id, artifact_manifest_digest, test_index, point_index, placement]
feeds: fabric_outcome
*/
with bandwidth_unit as (
    select
        unit,
        bytes
    from (
        values
        ('B/s', 1.0::double),
        ('kB/s', 1e3),
        ('MB/s', 1e6),
        ('GB/s', 1e9),
        ('TB/s', 1e12),
        ('KiB/s', 1024.0),
        ('MiB/s', 1048576.0),
        ('GiB/s', 1073741824.0),
        ('TiB/s', 1099511627776.0),
        ('MB/sec', 1048576.0),
        ('MiB/sec', 1048576.0),
        ('Gb/sec', 125000000.0),
        ('bits/s', 0.125),
        ('bits/sec', 0.125),
        ('Kbits/sec', 125.0),
        ('Mbits/sec', 125e3),
        ('Gbits/sec', 125e6),
        ('Tbits/sec', 125e9),
        ('Bytes/sec', 1.0),
        ('KBytes/sec', 1024.0),
        ('MBytes/sec', 1048576.0),
        ('GBytes/sec', 1073741824.0),
        ('TBytes/sec', 1099511627776.0)
    ) as unit (unit, bytes)
),

latency_unit as (
    select
        unit,
        us
    from (values ('us', 1.0::double), ('usec', 1.0), ('ns', 0.001), ('ms', 1000.0)) as unit (unit, us)
)

select
    point.run_id,
    point.artifact_manifest_digest,
    of_test.tool,
    of_test.test,
    point.test_index,
    point.scope,
    point.scope_name,
    point.point_index,
    point.placement,
    point.direction,
    point.status,
    point.status_reason,
    of_test.nodes,
    of_test.node_count,
    of_test.rank_count,
    point.source,
    point.target,
    point.gpu_number,
    gpu.model as gpu_model,
    gpu.bus_id as gpu_bus_id,
    gpu.uuid as gpu_uuid,
    point.message_bytes,
    point.element_count,
    point.element_type,
    point.redop,
    point.root,
    point.iterations,
    case when point.status = 'measured' or of_test.tool not in ('nccl-tests', 'rccl-tests') then point.time_us end as time_us,
    case when point.status = 'measured' or of_test.tool not in ('nccl-tests', 'rccl-tests') then point.alg_bandwidth_gb_per_s end as alg_bandwidth_gb_per_s,
    case when point.status = 'measured' or of_test.tool not in ('nccl-tests', 'rccl-tests') then point.bus_bandwidth_gb_per_s end as bus_bandwidth_gb_per_s,
    point.wrong_count,
    point.max_error,
    point.bandwidth * bandwidth_unit.bytes / 1e9 as bandwidth_gb_per_s,
    point.bandwidth_peak * bandwidth_unit.bytes / 1e9 as peak_bandwidth_gb_per_s,
    case when point.bandwidth_unit = 'MiB/s/rank' then point.bandwidth * 1048576 / 1e9 end as rank_bandwidth_gb_per_s,
    case when point.bandwidth_unit = 'MiB/s/rank' then point.bandwidth_p99 * 1048576 / 1e9 end as rank_bandwidth_p99_gb_per_s,
    point.message_rate_mpps * 1e6 as message_rate_per_s,
    point.latency_kind,
    point.latency_mean * latency_unit.us as latency_mean_us,
    point.latency_min * latency_unit.us as latency_min_us,
    point.latency_max * latency_unit.us as latency_max_us,
    point.latency_stdev * latency_unit.us as latency_stdev_us,
    point.latency_p50 * latency_unit.us as latency_p50_us,
    point.latency_p90 * latency_unit.us as latency_p90_us,
    point.latency_p95 * latency_unit.us as latency_p95_us,
    point.latency_p99 * latency_unit.us as latency_p99_us,
    point.latency_p999 * latency_unit.us as latency_p999_us,
    point.io_per_s,
    point.gflop_per_s,
    point.error_count,
    point.temperature_c,
    point.power_w,
    point.retransmit_count,
    point.jitter_ms,
    point.lost_pct
from fabric_check_point as point
inner join fabric_check_test_outcome as of_test
    on
        of_test.run_id = point.run_id
        and of_test.artifact_manifest_digest = point.artifact_manifest_digest
        and of_test.test_index = point.test_index
left join bandwidth_unit
    on bandwidth_unit.unit = point.bandwidth_unit
left join latency_unit
    on latency_unit.unit = point.latency_unit
left join fabric_check_endpoint as gpu
    on
        gpu.run_id = point.run_id
        and gpu.artifact_manifest_digest = point.artifact_manifest_digest
        and gpu.number = point.gpu_number
        and gpu.kind = 'gpu'
