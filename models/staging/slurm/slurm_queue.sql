/*
description: >
  One row per output of Slurm and partition, or of the whole controller (sdiag, without a partition): nodes by state, or jobs that
  wait and run. A node that is drained is not counted as down or idle. Tasks of an array that still wait are one job in squeue. A file may
  list the nodes several times. Of a listing that has both the nodes of a partition and their totals, the nodes count.
feeds: scheduler_queue
*/
with node as (
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length,
        listing,
        0 as detail,
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
        listing,
        if(node_state is null, 2, 1) as detail,
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
            when regexp_matches(node_state, '(^|\+)(DOWN|FAIL)') then 'down'
            when starts_with(node_state, 'IDLE') then 'idle'
            when starts_with(node_state, 'ALLOC') or starts_with(node_state, 'COMP') then 'allocated'
            when starts_with(node_state, 'MIX') then 'mixed'
            else 'other'
        end as kind
    from node
    qualify
        detail = min(detail) over (
            partition by
                artifact_manifest_digest,
                raw_path,
                listing,
                queue
        )
),

partition_nodes as (
    select
        artifact_manifest_digest,
        raw_path,
        nullif(queue, '') as queue,
        min(raw_offset) as raw_offset,
        max(raw_offset + raw_length) - min(raw_offset) as raw_length,
        try_cast(sum(node_count) as bigint) as node_count,
        sum(gpu_count)::double as nominal_quota,
        sum(allocated_gpu_count)::double as used,
        max(kind <> 'any') as has_states,
        try_cast(coalesce(sum(node_count) filter (where kind = 'idle'), 0) as bigint) as idle_nodes,
        try_cast(coalesce(sum(node_count) filter (where kind = 'allocated'), 0) as bigint) as allocated_nodes,
        try_cast(coalesce(sum(node_count) filter (where kind = 'mixed'), 0) as bigint) as mixed_nodes,
        try_cast(coalesce(sum(node_count) filter (where kind = 'down'), 0) as bigint) as down_nodes,
        try_cast(coalesce(sum(node_count) filter (where kind = 'drained'), 0) as bigint) as drained_nodes
    from classed
    group by
        artifact_manifest_digest,
        raw_path,
        listing,
        queue
),

queued as (
    select
        job.artifact_manifest_digest,
        job.raw_path,
        job.partition as queue,
        min(job.raw_offset) as raw_offset,
        max(job.raw_offset + job.raw_length) - min(job.raw_offset) as raw_length,
        count(*) filter (where known.state = 'PENDING') as pending,
        count(*) filter (where known.has_started and not known.has_ended) as running
    from slurm_job as job
    inner join slurm_job_state as known
        on known.state = split_part(job.state, '+', 1)
    where job.source = 'squeue' and job.partition is not null
    group by
        job.artifact_manifest_digest,
        job.raw_path,
        job.partition
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
),

pressure as (
    select
        artifact_manifest_digest,
        raw_path,
        queue,
        raw_offset,
        raw_length,
        pending,
        running
    from queued
    union all
    select
        artifact_manifest_digest,
        raw_path,
        null as queue,
        raw_offset,
        raw_length,
        try_cast(pending as bigint) as pending,
        try_cast(running as bigint) as running
    from controller
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
    found.queue,
    null as resource,
    null as nominal_quota,
    null as used,
    found.pending as pending_workloads,
    found.running as admitted_workloads,
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
from pressure as found
left join slurm_asked as asked
    on
        asked.artifact_manifest_digest = found.artifact_manifest_digest
        and asked.raw_path = found.raw_path
