/*
description: The kernel reported a fault of the node while the run ran (machine check, memory, PCIe, disk, a stalled CPU, a process out of memory)
playbook: [distributed_straggler, low_gpu_utilization, slow_host]
evidence: kernel logs of the run's nodes whose times are known (journalctl -k -o short-iso, dmesg -T), named for their node
order: 7
*/
with node as (
    select distinct
        explained.run_id,
        explained.started_at,
        explained.ended_at,
        place.node_name
    from explained
    inner join run_node as place
        on place.run_id = explained.run_id
    where
        explained.role = 'run'
        and place.node_name is not null
),

fault as (
    select
        event.run_id,
        event.node_name,
        event.event_class,
        count(*) as events,
        max(event.severity = 'error') as is_error,
        min(event.event_at) as event_at,
        arg_min(event.message, (event.event_at, event.raw_offset)) as message,
        arg_min(event.artifact_manifest_digest, (event.event_at, event.raw_offset)) as artifact_manifest_digest,
        arg_min(event.raw_path, (event.event_at, event.raw_offset)) as raw_path
    from run_event as event
    inner join explained
        on
            explained.run_id = event.run_id
            and explained.role = 'run'
    where
        event.source = 'kernel'
        and event.phase = 'running'
        and event.severity <> 'info'
        and event.event_class <> 'gpu_xid'
    group by
        event.run_id,
        event.node_name,
        event.event_class
)

select
    'node ' || node_name as subject,
    true as is_found,
    case when is_error then 0.8 else 0.3 end as score,
    printf('%d %s of the kernel, the first: %s', events, case when events = 1 then 'message' else 'messages' end, message) as statement,
    events::double as observed,
    0.0 as expected,
    'count' as unit,
    artifact_manifest_digest,
    raw_path
from fault
union all
select
    'node ' || node.node_name as subject,
    false as is_found,
    0.0 as score,
    'its kernel log has no fault of this time' as statement,
    0.0 as observed,
    0.0 as expected,
    'count' as unit,
    min(log.artifact_manifest_digest) as artifact_manifest_digest,
    min(log.raw_path) as raw_path
from node
inner join kernel_log as log
    on
        lower(log.node_name) = lower(node.node_name)
        and log.first_at <= node.started_at
        and log.last_at >= node.ended_at
anti join fault
    on lower(fault.node_name) = lower(node.node_name)
group by node.node_name
