/*
description: Labels, affinity, taints or topology keep the job away from most nodes
playbook: scheduler_backpressure
evidence: events of the job's pods or Workload (FailedScheduling, Pending), Kueue's Workload objects, or Slurm's pending reasons (squeue)
order: 4
*/
with told as (
    select
        run_event.code as name,
        coalesce(run_event.message, '') as message,
        run_event.phase <> 'running' and run_event.code <> 'Scheduled' as is_refusal,
        run_event.artifact_manifest_digest,
        run_event.raw_path
    from run_event
    inner join explained
        on
            explained.run_id = run_event.run_id
            and explained.role = 'run'
    where
        run_event.concerns in ('pod', 'job')
        and run_event.event_class = 'scheduling'
    union all
    select
        waited.state as name,
        waited.message,
        true as is_refusal,
        waited.artifact_manifest_digest,
        waited.raw_path
    from run_scheduling as scheduled
    inner join explained
        on
            explained.run_id = scheduled.run_id
            and explained.role = 'run'
    inner join kueue_wait_statement as waited
        on
            waited.workload = scheduled.scheduler_run_id
            and waited.kind = 'quota'
    where
        scheduled.scheduler = 'kueue'
        and waited.message is not null
    union all
    select
        stated.state_reason as name,
        'Slurm says of the waiting job: ' || stated.state_reason as message,
        true as is_refusal,
        stated.artifact_manifest_digest,
        stated.raw_path
    from run_scheduling as scheduled
    inner join explained
        on
            explained.run_id = scheduled.run_id
            and explained.role = 'run'
    inner join slurm_job_statement as stated
        on
            stated.job_id = scheduled.scheduler_run_id
            and stated.cluster is not distinct from scheduled.cluster
            and stated.state = 'PENDING'
            and stated.step is null
    where
        scheduled.scheduler = 'slurm'
        and stated.state_reason is not null
),

judged as (
    select
        *,
        is_refusal and (
            regexp_matches(message, '(?i)affinity|node selector|nodeSelector|taint|topology|match pod|unschedulable')
            or regexp_matches(name, '(?i)^(BadConstraints|ReqNodeNotAvail|NodesRequired|.*Constraint.*|PartitionConfig|PartitionNodeLimit|InvalidQOS)')
        ) as is_constraint,
        try_cast(nullif(regexp_extract(message, '\d+/(\d+) nodes are available', 1), '') as double) as all_nodes,
        list_sum(list_transform(
            regexp_extract_all(message, '(\d+) node\(s\) [^,.]*(?:affinity|selector|taint|topology|unschedulable)', 1), lambda each: try_cast(each as double)
        )) as excluded_nodes
    from told
),

-- Kueue lists what excludes each flavor: constraints, or quota.
weighed as (
    select
        name,
        message,
        is_refusal,
        is_constraint,
        case
            when not is_constraint then 0
            when all_nodes > 0 then least(1, coalesce(excluded_nodes, 0) / all_nodes)
            when regexp_matches(message, '(?i)insufficient') then 0.4
            else 0.9
        end as share,
        artifact_manifest_digest,
        raw_path
    from judged
)

select
    name as subject,
    max(share) >= 0.4 as is_found,
    max(share) as score,
    if(bool_or(is_refusal), arg_max(message, share), printf('the pod was placed: %s', arg_max(message, share))) as statement,
    null as observed,
    null as expected,
    null as unit,
    arg_max(artifact_manifest_digest, share) as artifact_manifest_digest,
    arg_max(raw_path, share) as raw_path
from weighed
group by
    name,
    message
