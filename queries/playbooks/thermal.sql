/*
description: A GPU is hotter than its peers, is slowed down to cool, or runs at a lower clock than they do
playbook: distributed_straggler
evidence: temperatures, clocks and throttling times of GPUs (dcgm-exporter)
order: 3
part: clocks
*/
with usual as (
    select
        peer.metric,
        median(peer.value) as value
    from telemetry_peer as peer
    inner join explained
        on
            explained.run_id = peer.run_id
            and explained.role = 'baseline'
    where peer.is_supported
    group by peer.metric
),

-- A run with one GPU has no peers, only a baseline. How its clock compares with that is the answer of gpu_throttling.
own as (
    select
        peer.*,
        case
            when peer.peer_count > 1 then peer.peer_median
            when peer.metric <> 'gpu_sm_clock_mhz' then usual.value
        end as expected,
        max(peer.value / nullif(peer.observed_s, 0)) filter (where peer.metric like 'gpu_throttle%' and peer.is_supported) over (
            partition by peer.subject
        ) as slowed_share
    from telemetry_peer as peer
    inner join explained
        on
            explained.run_id = peer.run_id
            and explained.role = 'run'
    left join usual
        on usual.metric = peer.metric
    where
        peer.value is not null
        and peer.metric in (
            'gpu_temperature_c', 'gpu_memory_temperature_c', 'gpu_sm_clock_mhz', 'gpu_throttle_thermal_s',
            'gpu_throttle_software_thermal_s', 'gpu_throttle_hardware_thermal_s'
        )
)

select
    subject,
    case
        when not is_supported then null
        when metric like 'gpu_throttle%' then value > 0.01 * observed_s and value > 2 * coalesce(expected, 0)
        when expected is null then null
        when metric = 'gpu_sm_clock_mhz' then value < 0.95 * expected
        else value > expected + 10 and coalesce(slowed_share > 0.01, true)
    end as is_found,
    if(metric = 'gpu_sm_clock_mhz', expected / nullif(value, 0), null) as slowdown,
    case
        when metric like 'gpu_throttle%' then least(1, value / observed_s)
        when metric = 'gpu_sm_clock_mhz' then 1 - value / nullif(expected, 0)
        else least(0.3, (value - expected) / 100)
    end as score,
    case
        when metric like 'gpu_throttle%' then printf('slowed down to cool for %.4g s of %.4g s (%s)', value, observed_s, metric)
        when expected is null then printf('%s is %.4g %s, with nothing to compare it with', metric, value, unit)
        else printf('%s is %.4g %s, it should be near %.4g %s', metric, value, unit, expected, unit)
            || if(metric like '%temperature%' and slowed_share <= 0.01, '; the driver counted no time in which it was slowed down to cool', '')
    end
    || coalesce(note, '') as statement,
    value as observed,
    expected,
    unit,
    artifact_manifest_digest,
    raw_path
from own
