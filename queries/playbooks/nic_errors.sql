/*
description: A network card or link loses packets or has errors that its peers have not
playbook: distributed_straggler
evidence: network counters of nodes (node exporter) or probes between nodes (ping-exporter)
order: 4
part: network
*/
with known as (
    select *
    from (
        values
        ('ping_loss_pct', 0.9, 0.1, 'mean loss'),
        ('nic_link_down_count', 0.9, 1, 'link downs'),
        ('nic_link_recovery_count', 0.7, 1, 'link recoveries'),
        ('nic_symbol_error_count', 0.6, 10, 'symbol errors'),
        ('nic_receive_error_count', 0.6, 10, 'receive errors'),
        ('nic_send_error_count', 0.6, 10, 'send errors'),
        ('nic_receive_drop_count', 0.4, 100, 'packets dropped on receipt'),
        ('nic_send_drop_count', 0.4, 100, 'packets dropped before sending')
    ) as rule (metric, most, least_value, words)
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

own as (
    select
        peer.*,
        known.most,
        known.least_value,
        known.words,
        greatest(if(peer.peer_count > 1, peer.peer_median, null), usual.value) as expected
    from telemetry_peer as peer
    inner join explained
        on
            explained.run_id = peer.run_id
            and explained.role = 'run'
    inner join known
        on known.metric = peer.metric
    left join usual
        on usual.metric = peer.metric
    where peer.value is not null
)

select
    subject,
    if(is_supported, value >= least_value and value > 3 * coalesce(expected, 0), null) as is_found,
    most * (1 - coalesce(expected, 0) / nullif(value, 0)) as score,
    printf('%s: %.4g %s', words, value, unit)
    || coalesce(printf(', by its peers or in the baseline %.4g', expected), '; there is nothing to compare it with')
    || coalesce(note, '') as statement,
    value as observed,
    expected,
    unit,
    artifact_manifest_digest,
    raw_path
from own
