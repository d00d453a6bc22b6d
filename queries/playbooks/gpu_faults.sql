/*
description: A GPU reported faults during the run (XID, ECC, remapped rows)
playbook: distributed_straggler
evidence: XID codes, ECC and remapping counters of GPUs (dcgm-exporter, wh record), or kernel logs of the run's nodes
order: 5
*/
with counter as (
    select *
    from (
        values
        ('gpu_ecc_uncorrected_count', 0.9, 1),
        ('gpu_remapped_rows_uncorrected_count', 0.9, 1),
        ('gpu_remapped_rows_corrected_count', 0.5, 1),
        ('gpu_ecc_corrected_count', 0.3, 10)
    ) as rule (metric, most, least_count)
),

own as (
    select peer.*
    from telemetry_peer as peer
    inner join explained
        on
            explained.run_id = peer.run_id
            and explained.role = 'run'
)

select
    own.subject,
    own.is_neighbour,
    if(own.is_supported, own.value >= counter.least_count and own.value > 3 * if(own.peer_count > 1, own.peer_median, 0), null) as is_found,
    counter.most as score,
    printf('%s rose by %.0f', own.metric, own.value) || coalesce(printf(', in the median of the peers by %.0f', own.peer_median), '')
    || coalesce(own.note, '') as statement,
    own.value as observed,
    own.peer_median as expected,
    own.unit,
    own.artifact_manifest_digest,
    own.raw_path
from own
inner join counter
    on counter.metric = own.metric
where own.value is not null
union all
select
    own.subject,
    own.is_neighbour,
    case
        when event.code is null then if(own.is_supported, false, null)
        when event.certainty = 'unknown' or event.is_ambiguous then null
        else event.certainty = 'in run'
    end as is_found,
    if(event.xid_class = 'application', 0.3, 0.9) as score,
    case
        when event.code is null then 'no XID'
        else concat_ws(
            ' ', printf('XID %d', event.code), '(' || event.name || ')',
            case event.certainty
                when 'in run' then 'appeared during the run'
                when 'pre-existing' then 'is from before the run'
                else 'was there at the first sample of the run, and may be from before it'
            end
        )
    end
    || coalesce(own.note, '') as statement,
    event.code as observed,
    null as expected,
    own.unit,
    own.artifact_manifest_digest,
    own.raw_path
from own
left join gpu_xid_event as event
    on
        event.run_id = own.run_id
        and event.artifact_manifest_digest = own.artifact_manifest_digest
        and event.series_number = own.series_number
where
    own.metric in ('gpu_xid', 'gpu_xid_count', 'gpu_xid_window_count')
    and own.value is not null
union all
select
    own.subject,
    own.is_neighbour,
    if(own.is_supported, own.value_max > 0, null) as is_found,
    0.9 as score,
    if(own.value_max > 0, 'a row could not be remapped', 'no row failed to be remapped') || coalesce(own.note, '') as statement,
    own.value_max as observed,
    0 as expected,
    own.unit,
    own.artifact_manifest_digest,
    own.raw_path
from own
where
    own.metric = 'gpu_row_remap_failure'
    and own.value_max is not null
union all
-- Of a GPU of the node, whose address the kernel states: it may not be the run's, unless the log has its uuid, too.
select
    coalesce('GPU ' || event.gpu_uuid, 'node ' || event.node_name) as subject,
    false as is_neighbour,
    case when event.phase = 'running' then true else false end as is_found,
    case when known.xid_class = 'application' then 0.3 else 0.9 end as score,
    concat_ws(' ', 'the kernel reported', case when event.phase = 'running' then 'during' else 'before' end, 'the run:', event.message) as statement,
    try_cast(event.object_name as double) as observed,
    null as expected,
    'code' as unit,
    event.artifact_manifest_digest,
    event.raw_path
from run_event as event
inner join explained
    on
        explained.run_id = event.run_id
        and explained.role = 'run'
left join gpu_xid as known
    on known.code = try_cast(event.object_name as bigint)
where
    event.source = 'kernel'
    and event.event_class = 'gpu_xid'
    -- The run names its GPUs, and this is another one.
    and not (event.concerns = 'node' and event.gpu_uuid is not null and exists (
        select 1
        from run_node as place
        where
            place.run_id = event.run_id
            and place.gpu_uuid is not null
    ))
union all
select
    'node ' || place.node_name as subject,
    false as is_neighbour,
    false as is_found,
    0.0 as score,
    'its kernel log has no XID of this time' as statement,
    null as observed,
    null as expected,
    'code' as unit,
    min(log.artifact_manifest_digest) as artifact_manifest_digest,
    min(log.raw_path) as raw_path
from explained
inner join run_node as place
    on place.run_id = explained.run_id
inner join kernel_log as log
    on
        lower(log.node_name) = lower(place.node_name)
        and log.first_at <= explained.started_at
        and log.last_at >= explained.ended_at
where
    explained.role = 'run'
    and not exists (
        select 1
        from run_event as event
        where
            event.run_id = explained.run_id
            and event.source = 'kernel'
            and event.event_class = 'gpu_xid'
    )
group by place.node_name
