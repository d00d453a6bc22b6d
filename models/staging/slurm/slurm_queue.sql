/*
description: >
  One row per output of Slurm and partition, or of the whole controller (sdiag, without a partition): jobs that wait and run,
  nodes by state. A node that is drained is not counted as down or idle.
feeds: scheduler_queue
*/
with node as (
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length,
        unnest(string_split(coalesce(partitions, ''), ',')) as queue,
        1 as node_count,
        gpu_count,
        allocated_gpu_count,
        state as node_state
    from slurm_node
    union all
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length,
        partition as queue,
        node_count,
        gpu_count,
        null as allocated_gpu_count,
        node_state
    from slurm_partition_entry
),

classed as (
    select
        *,
        case
            when node_state is null then 'any'
            when contains(node_state, 'DRAIN') then 'drained'
            when contains(node_state, 'DOWN') or contains(node_state, 'FAIL') then 'down'
            when starts_with(node_state, 'IDLE') then 'idle'
            when starts_with(node_state, 'ALLOC') or starts_with(node_state, 'COMP') then 'allocated'
            when starts_with(node_state, 'MIX') then 'mixed'
            else 'other'
        end as kind
    from node
),

partition_nodes as (
    select
        artifact_manifest_digest,
        raw_path,
        nullif(queue, '') as queue,
        min(raw_offset) as raw_offset,
        max(raw_offset + raw_length) - min(raw_offset) as raw_length,
        sum(node_count)::bigint as node_count,
        sum(gpu_count)::double as nominal_quota,
        sum(allocated_gpu_count)::double as used,
        max(kind <> 'any') as has_states,
        coalesce(sum(node_count) filter (where kind = 'idle'), 0)::bigint as idle_nodes,
        coalesce(sum(node_count) filter (where kind = 'allocated'), 0)::bigint as allocated_nodes,
        coalesce(sum(node_count) filter (where kind = 'mixed'), 0)::bigint as mixed_nodes,
        coalesce(sum(node_count) filter (where kind = 'down'), 0)::bigint as down_nodes,
        coalesce(sum(node_count) filter (where kind = 'drained'), 0)::bigint as drained_nodes
    from classed
    group by
        artifact_manifest_digest,
        raw_path,
        queue
),

controller as (
    select
        artifact_manifest_digest,
        raw_path,
        min(raw_offset) as raw_offset,
        max(raw_offset + raw_length) - min(raw_offset) as raw_length,
        max(value_number) filter (where key = 'jobs_pending') as pending,
        max(value_number) filter (where key = 'jobs_running') as running
    from slurm_diagnostic_entry
    group by
        artifact_manifest_digest,
        raw_path
    having count(*) filter (where key in ('jobs_pending', 'jobs_running')) > 0
)

select
    'slurm' as scheduler,
    found.queue,
    case when found.nominal_quota is not null then 'gres/gpu' end as resource,
    found.nominal_quota,
    found.used,
    null::bigint as pending_workloads,
    null::bigint as admitted_workloads,
    found.node_count,
    case when found.has_states then found.idle_nodes end as idle_nodes,
    case when found.has_states then found.allocated_nodes end as allocated_nodes,
    case when found.has_states then found.mixed_nodes end as mixed_nodes,
    case when found.has_states then found.down_nodes end as down_nodes,
    case when found.has_states then found.drained_nodes end as drained_nodes,
    asked.sampled_at,
    found.artifact_manifest_digest,
    found.raw_path,
    found.raw_offset,
    found.raw_length
from partition_nodes as found
left join slurm_asked as asked
    on
        asked.artifact_manifest_digest = found.artifact_manifest_digest
        and asked.raw_path = found.raw_path
union all
select
    'slurm' as scheduler,
    null as queue,
    null as resource,
    null as nominal_quota,
    null as used,
    try_cast(found.pending as bigint) as pending_workloads,
    try_cast(found.running as bigint) as admitted_workloads,
    null as node_count,
    null as idle_nodes,
    null as allocated_nodes,
    null as mixed_nodes,
    null as down_nodes,
    null as drained_nodes,
    asked.sampled_at,
    found.artifact_manifest_digest,
    found.raw_path,
    found.raw_offset,
    found.raw_length
from controller as found
left join slurm_asked as asked
    on
        asked.artifact_manifest_digest = found.artifact_manifest_digest
        and asked.raw_path = found.raw_path
