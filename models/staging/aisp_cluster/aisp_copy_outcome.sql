/*
description: >
  One row per copy pattern of nvbandwidth, job of fio and direction of iperf3, each a test of its own. fio's mb_s are MiB/s, iperf3's gbps are
  Gbit/s. nvbandwidth measures latencies in ns, so that the sum of a latency test is not here.
grain: [run_id, artifact_manifest_digest, test_index]
feeds: fabric_outcome
*/
with named as (
    select
        entry.run_id,
        entry.artifact_manifest_digest,
        run.kind,
        run.nodes,
        run.node_count,
        entry.raw_offset,
        entry.value_number,
        case
            when run.kind = 'nvbandwidth' then nullif(regexp_extract(entry.key, '^\w+/([^/]+)/sum_gbps$', 1), '')
            when run.kind = 'fio' then nullif(regexp_extract(entry.key, '^results/([^/]+)/(?:bw_mb_s|iops|p99_lat_ms)$', 1), '')
            when run.kind = 'iperf3' then nullif(regexp_extract(entry.key, '^iperf3/(fwd|rev)_gbps$', 1), '')
        end as name,
        regexp_extract(entry.key, '[^/]+$') as measure
    from aisp_entry as entry
    inner join aisp_run as run
        on
            run.run_id = entry.run_id
            and run.artifact_manifest_digest = entry.artifact_manifest_digest
    where run.kind in ('nvbandwidth', 'fio', 'iperf3')
),

tested as (
    select
        run_id,
        artifact_manifest_digest,
        kind,
        nodes,
        node_count,
        name,
        min(raw_offset) as place,
        max(value_number) filter (where measure = 'sum_gbps' and name not like '%latency%') as sum_gb_per_s,
        max(value_number) filter (where measure = 'bw_mb_s') as mib_per_s,
        max(value_number) filter (where measure in ('fwd_gbps', 'rev_gbps')) as gbit_per_s,
        max(value_number) filter (where measure = 'iops') as io_per_s,
        max(value_number) filter (where measure = 'p99_lat_ms') as p99_ms
    from named
    where name is not null
    group by
        run_id,
        artifact_manifest_digest,
        kind,
        nodes,
        node_count,
        name
)

select
    run_id,
    artifact_manifest_digest,
    kind as tool,
    name as test,
    row_number() over (partition by run_id, artifact_manifest_digest order by place, name) as test_index,
    if(kind = 'iperf3', 'pair', 'point') as scope,
    if(kind = 'nvbandwidth', 'SUM', null) as scope_name,
    1::bigint as point_index,
    case
        when name in ('fwd', 'rev') then if(name = 'fwd', 'sent', 'received')
        when kind = 'fio' and name like '%read%' then 'read'
        when kind = 'fio' and name like '%write%' then 'write'
    end as direction,
    if(coalesce(sum_gb_per_s, mib_per_s, gbit_per_s, io_per_s) is null, 'unknown', 'measured') as status,
    nodes,
    node_count,
    coalesce(sum_gb_per_s, mib_per_s * 1048576 / 1e9, gbit_per_s / 8) as bandwidth_gb_per_s,
    io_per_s,
    p99_ms * 1e3 as latency_p99_us
from tested
