/*
description: Enough GPUs were free for the job, but scattered, or on nodes that were drained or down
playbook: scheduler_backpressure
evidence: Slurm's nodes (scontrol show node, sinfo) in JSON while the job waited
order: 3
*/
with job as (
    select
        scheduled.run_id,
        found.queue,
        found.node_count,
        found.gpu_count,
        found.gpu_count / nullif(found.node_count, 0) as gpus_per_node,
        found.submitted_at,
        found.started_at
    from run_scheduling as scheduled
    inner join explained
        on
            explained.run_id = scheduled.run_id
            and explained.role = 'run'
    inner join scheduler_job_fact as found
        on
            found.scheduler = scheduled.scheduler
            and found.cluster is not distinct from scheduled.cluster
            and found.scheduler_run_id = scheduled.scheduler_run_id
    where found.scheduler = 'slurm'
),

-- Nodes with their GPUs: which of them had room for the job's share of a node.
snapshot as (
    select
        job.queue,
        job.node_count,
        job.gpu_count,
        job.gpus_per_node,
        node.observed_at,
        node.artifact_manifest_digest,
        node.raw_path,
        count(*) filter (where node.is_ready and node.gpu_count - coalesce(node.allocated_gpu_count, 0) >= job.gpus_per_node) as fitting_nodes,
        count(*) filter (where not node.is_ready and node.gpu_count >= job.gpus_per_node) as unusable_nodes,
        sum(node.gpu_count - coalesce(node.allocated_gpu_count, 0)) filter (where node.is_ready) as free_gpus
    from job
    inner join node_state_fact as node
        on
            node.source = 'slurm'
            and list_contains(string_split(node.node_pool, ','), job.queue)
            and node.observed_at between job.submitted_at and job.started_at
    where
        node.gpu_count is not null
        and node.allocated_gpu_count is not null
        and job.gpus_per_node is not null
    group by all
),

counted as (
    select
        job.queue,
        job.node_count,
        queue.sampled_at,
        queue.idle_nodes,
        queue.mixed_nodes,
        coalesce(queue.down_nodes, 0) + coalesce(queue.drained_nodes, 0) as unusable_nodes,
        queue.artifact_manifest_digest,
        queue.raw_path
    from job
    inner join scheduler_queue_fact as queue
        on
            queue.scheduler = 'slurm'
            and queue.queue = job.queue
            and queue.sampled_at between job.submitted_at and job.started_at
    where
        queue.idle_nodes is not null
        and job.node_count is not null
        and not exists (
            select 1
            from snapshot
            where
                snapshot.artifact_manifest_digest = queue.artifact_manifest_digest
                and snapshot.raw_path = queue.raw_path
        )
)

select
    'partition ' || queue as subject,
    fitting_nodes < node_count and (coalesce(free_gpus, 0) >= gpu_count or fitting_nodes + unusable_nodes >= node_count) as is_found,
    if(coalesce(free_gpus, 0) >= gpu_count, 1.0, 0.8) as score,
    printf(
        'it needs %d GPUs on %d %s; %d were free, and %d %s room for %d of them; %d %s drained or down',
        gpu_count, node_count, if(node_count = 1, 'node', 'nodes'), coalesce(free_gpus, 0)::bigint, fitting_nodes,
        if(fitting_nodes = 1, 'node had', 'nodes had'), gpus_per_node::bigint, unusable_nodes, if(unusable_nodes = 1, 'node was', 'nodes were')
    )
    || strftime(observed_at at time zone 'UTC', ' at %Y-%m-%d %H:%M:%S UTC') as statement,
    coalesce(free_gpus, 0)::double as observed,
    gpu_count::double as expected,
    'GPUs' as unit,
    artifact_manifest_digest,
    raw_path
from snapshot
union all
select
    'partition ' || queue as subject,
    idle_nodes < node_count and (idle_nodes + coalesce(mixed_nodes, 0) >= node_count or idle_nodes + unusable_nodes >= node_count) as is_found,
    0.6 as score,
    printf(
        'it needs %d %s; %d were idle, %d partly used and %d drained or down', node_count, if(node_count = 1, 'node', 'nodes'), idle_nodes,
        coalesce(mixed_nodes, 0), unusable_nodes
    )
    || strftime(sampled_at at time zone 'UTC', ' at %Y-%m-%d %H:%M:%S UTC') as statement,
    idle_nodes::double as observed,
    node_count::double as expected,
    'nodes' as unit,
    artifact_manifest_digest,
    raw_path
from counted
