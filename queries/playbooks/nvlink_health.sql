/*
description: An NVLink has errors that its peers do not have
playbook: distributed_straggler
evidence: NVLink error counters of GPUs (dcgm-exporter)
order: 2
part: network
*/
with weight as (
    select *
    from (
        values
        ('nvlink_recovery_error_count', 0.9, 1),
        ('nvlink_replay_error_count', 0.6, 10),
        ('nvlink_crc_data_error_count', 0.5, 10),
        ('nvlink_crc_flit_error_count', 0.5, 10)
    ) as known (metric, most, least_count)
),

usual as (
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

-- A link that is alone has no peers, only a baseline.
own as (
    select
        peer.*,
        weight.most,
        weight.least_count,
        greatest(if(peer.peer_count > 1, peer.peer_median, 0), coalesce(usual.value, 0)) as expected
    from telemetry_peer as peer
    inner join explained
        on
            explained.run_id = peer.run_id
            and explained.role = 'run'
    inner join weight
        on weight.metric = peer.metric
    left join usual
        on usual.metric = peer.metric
    where peer.value is not null
)

select
    subject,
    if(is_supported, value >= least_count and value > 3 * expected, null) as is_found,
    most * (1 - expected / nullif(value, 0)) as score,
    printf('%s rose by %.0f', metric, value)
    || if(peer_count > 1, printf(', in the median of %d peers by %.0f', peer_count, peer_median), '')
    || coalesce(note, '') as statement,
    value as observed,
    expected,
    unit,
    artifact_manifest_digest,
    raw_path
from own
