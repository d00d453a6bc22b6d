/*
description: >
  One row per run, metric of hardware and what it is of (a node, GPU, link, network card, disk): its value over the whole
  run beside the median of the run's own peers, this one included. The value is the mean of a gauge (of a clock the median,
  because GPUs lower their clocks while they are idle), the increase of a counter, and the least of a state. A value that cannot answer a question about the run is in no median.
grain: [run_id, artifact_manifest_digest, series_number]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {tests: [not_null]}
  scope: {tests: [not_null]}
  subject: {type: varchar, description: "Which one: its node, and its own name", tests: [not_null]}
  metric: {tests: [not_null]}
  value: {type: double, description: "Mean, median, increase or least value"}
  observed_s: {type: double, unit: s, description: "Time that the value is of: of a counter between samples of the run, else the run's"}
  peer_count: {type: bigint, description: "How many have a value, this one included", tests: [not_null]}
  peer_median: {type: double, description: "Median of their values"}
*/
with hardware as (
    select
        run_id,
        artifact_manifest_digest,
        series_number,
        raw_path,
        scope,
        if(subject = 'of the run', scope || ' of the run', subject) as subject,
        node_name,
        gpu_uuid,
        metric,
        unit,
        case
            when metric = 'gpu_sm_clock_mhz' then value_p50
            when kind = 'gauge' then value_mean
            when kind = 'counter' then value_delta
            else value_min
        end as value,
        value_min,
        value_max,
        value_last,
        if(kind = 'counter', counted_s, duration_s) as observed_s,
        is_supported,
        is_neighbour,
        note
    from run_telemetry
    where
        kind in ('gauge', 'counter', 'state')
        and scope in ('node', 'gpu', 'link', 'nic', 'disk')
),

peers as (
    select
        run_id,
        scope,
        metric,
        count(value) filter (where is_supported) as peer_count,
        median(value) filter (where is_supported) as peer_median
    from hardware
    group by
        run_id,
        scope,
        metric
)

select
    hardware.*,
    peers.peer_count,
    peers.peer_median
from hardware
inner join peers
    on
        peers.run_id = hardware.run_id
        and peers.scope = hardware.scope
        and peers.metric = hardware.metric
