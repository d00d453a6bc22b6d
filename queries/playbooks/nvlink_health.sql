/*
description: An NVLink has errors that those of its peers have not
playbook: distributed_straggler
evidence: NVLink error counters of GPUs (dcgm-exporter)
order: 2
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
)

select
    peer.subject,
    if(peer.is_supported, peer.value >= weight.least_count and peer.value > 3 * greatest(peer.peer_median, coalesce(usual.value, 0)), null) as is_found,
    weight.most * (1 - greatest(peer.peer_median, coalesce(usual.value, 0)) / nullif(peer.value, 0)) as score,
    printf('%s rose by %.0f, in the median of %d peers by %.0f', peer.metric, peer.value, peer.peer_count, peer.peer_median) as statement,
    peer.value as observed,
    peer.peer_median as expected,
    peer.unit,
    peer.artifact_manifest_digest,
    peer.raw_path
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
