/*
description: The PCIe link of a GPU is narrower or slower than in the baseline or than it can be, or repeats packets
playbook: distributed_straggler
evidence: PCIe link width, generation and replays of GPUs (dcgm-exporter)
order: 1
part: network
*/
with usual as (
    select
        peer.metric,
        median(peer.value) as value,
        median(peer.value_max) as value_max
    from telemetry_peer as peer
    inner join explained
        on
            explained.run_id = peer.run_id
            and explained.role = 'baseline'
    where
        peer.metric in ('pcie_width', 'pcie_generation', 'pcie_replay_count')
        and peer.is_supported
    group by peer.metric
),

own as (
    select peer.*
    from telemetry_peer as peer
    inner join explained
        on
            explained.run_id = peer.run_id
            and explained.role = 'run'
    where peer.metric in ('pcie_width', 'pcie_generation', 'pcie_replay_count')
),

-- What the baseline had: a slot that never was wider explains no difference. Without a baseline the greatest that the GPU states it could have, or
-- that its peers have. An idle GPU lowers the generation, so the greatest during the run counts; the width stays.
judged as (
    select
        own.*,
        if(own.metric = 'pcie_generation', own.value_max, own.value) as level,
        usual.value is not null as is_usual,
        case own.metric
            when 'pcie_replay_count' then greatest(if(own.peer_count > 1, own.peer_median, 0), coalesce(usual.value, 0))
            when 'pcie_generation' then coalesce(usual.value_max, greatest(most.value_max, greatest_peer.value_max))
            else coalesce(usual.value, greatest(most.value_max, if(own.peer_count > 1, own.peer_median, null)))
        end as expected
    from own
    left join usual
        on usual.metric = own.metric
    left join telemetry_peer as most
        on
            most.run_id = own.run_id
            and most.subject = own.subject
            and most.metric = own.metric || '_max'
    left join (
        select
            metric,
            median(value_max) as value_max
        from own
        where is_supported
        group by metric
        having count(*) > 1
    ) as greatest_peer
        on greatest_peer.metric = own.metric
)

select
    subject,
    case
        when not is_supported or expected is null or level is null then null
        when metric = 'pcie_replay_count' then level >= 10 and level > 3 * expected
        else level < expected
    end as is_found,
    -- If all of the time were transfers. A generation doubles the rate.
    case metric
        when 'pcie_width' then expected / nullif(level, 0)
        when 'pcie_generation' then pow(2, expected - level)
    end as slowdown,
    case metric
        when 'pcie_width' then 1 - level / nullif(expected, 0)
        when 'pcie_generation' then 1 - pow(2, level - expected)
        else 0.4 * (1 - expected / nullif(level, 0))
    end as score,
    case metric
        when 'pcie_width' then printf('the link is x%.0f', level) || coalesce(printf(', %s x%.0f', if(is_usual, 'in the baseline', 'it should be'), expected), '')
        when 'pcie_generation' then printf('the link reaches generation %.0f', level) || coalesce(printf(', %s %.0f', if(is_usual, 'in the baseline', 'it should reach'), expected), '')
        else printf('%.0f packets were sent again, by its peers or in the baseline %.0f', level, expected)
    end
    || if(expected is null, '; there is nothing to compare it with', '')
    || coalesce(note, '') as statement,
    level as observed,
    expected,
    unit,
    artifact_manifest_digest,
    raw_path
from judged
where level is not null
