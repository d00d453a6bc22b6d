/*
description: >
  One row per run that names a job of a scheduler, or a pod or service that is known to one: how it waited, where it ran, and what happened
  there meanwhile. The run's own waits come first. If several jobs match what the run names, none is taken, and job_count says how many.
grain: [run_id]
columns:
  run_id: {tests: [not_null, unique]}
  join_method: {type: varchar, description: "What the run names that the job has, too: scheduler_run_id, job_uid, pod_uid; NULL: no job does", tests: [{accepted_values: [scheduler_run_id, job_uid, pod_uid]}]}
  job_count: {type: bigint, description: "Jobs that answer to it: 1, or the join is ambiguous", tests: [not_null]}
  scheduler: {type: varchar, description: "The scheduler"}
  queue_wait_s: {type: double, unit: s, description: "From submission to quota, or for Slurm to start; what the run itself states, else its job's"}
  admission_wait_s: {type: double, unit: s, description: "From submission to admission, with queue_wait_s; what the run itself states, else its job's"}
  nodes: {type: varchar, description: "Nodes of the job, each once, with commas"}
  node_count: {type: bigint, description: "How many are known"}
  event_count: {type: bigint, description: "Warnings and errors on those nodes between start and end of the job, or to its last known moment; NULL: start or nodes are not known"}
  service_name: {type: varchar, description: "The service of KServe that the run's pod is of"}
*/
with job_name as (
    select
        scheduler,
        cluster,
        scheduler_run_id,
        scheduler_run_id as name
    from scheduler_job_fact
    union
    select
        scheduler,
        cluster,
        scheduler_run_id,
        displayed_id as name
    from scheduler_job_fact
    where displayed_id is not null
),

job_object as (
    select
        scheduler,
        cluster,
        scheduler_run_id,
        job_uid as uid
    from scheduler_job_fact
    where job_uid is not null
    union
    select
        scheduler,
        cluster,
        scheduler_run_id,
        name as uid
    from job_name
),

pod as (
    select
        scheduler,
        cluster,
        scheduler_run_id,
        pod_uid
    from scheduler_allocation
    where scheduler_run_id is not null and pod_uid is not null
    union
    select
        scheduler,
        cluster,
        scheduler_run_id,
        job_uid as pod_uid
    from scheduler_job_fact
    where job_uid is not null
),

candidate as (
    select
        run.run_id,
        'scheduler_run_id' as join_method,
        1 as place,
        job_name.scheduler,
        job_name.cluster,
        job_name.scheduler_run_id
    from benchmark_run_fact as run
    inner join job_name
        on job_name.name = run.scheduler_run_id
    union all
    select
        run.run_id,
        'job_uid' as join_method,
        2 as place,
        job_object.scheduler,
        job_object.cluster,
        job_object.scheduler_run_id
    from benchmark_run_fact as run
    inner join job_object
        on job_object.uid = run.job_uid
    union all
    select
        run.run_id,
        'pod_uid' as join_method,
        3 as place,
        pod.scheduler,
        pod.cluster,
        pod.scheduler_run_id
    from benchmark_run_fact as run
    inner join pod
        on pod.pod_uid = run.pod_uid
),

best as (
    select
        run_id,
        min(place) as place
    from candidate
    group by run_id
),

joined as (
    select
        candidate.run_id,
        min(candidate.join_method) as join_method,
        count(*) as job_count,
        min(candidate.scheduler) as scheduler,
        min(candidate.cluster) as cluster,
        min(candidate.scheduler_run_id) as scheduler_run_id
    from candidate
    inner join best
        on
            best.run_id = candidate.run_id
            and best.place = candidate.place
    group by candidate.run_id
),

place as (
    select
        scheduler,
        cluster,
        scheduler_run_id,
        string_agg(distinct node_name, ',' order by node_name) as nodes,
        count(distinct node_name) as node_count
    from scheduler_allocation
    where scheduler_run_id is not null
    group by
        scheduler,
        cluster,
        scheduler_run_id
),

happened as (
    select
        job.scheduler,
        job.cluster,
        job.scheduler_run_id,
        count(distinct event.artifact_manifest_digest || event.raw_path || event.raw_offset || event.code || coalesce(event.object_name, ''))
            as event_count
    from scheduler_job_fact as job
    inner join scheduler_allocation as allocation
        on
            allocation.scheduler = job.scheduler
            and allocation.cluster is not distinct from job.cluster
            and allocation.scheduler_run_id = job.scheduler_run_id
    inner join cluster_event_fact as event
        on
            event.node_name = allocation.node_name
            and event.severity <> 'info'
            and coalesce(event.last_seen_at, event.event_at) >= job.started_at
            and event.event_at <= coalesce(job.ended_at, event.event_at)
    group by
        job.scheduler,
        job.cluster,
        job.scheduler_run_id
),

served as (
    select
        pod_uid,
        min(service_name) as service_name
    from scheduler_allocation
    where service_name is not null
    group by pod_uid
)

select
    run.run_id,
    joined.join_method,
    coalesce(joined.job_count, 0) as job_count,
    job.scheduler,
    job.cluster,
    job.scheduler_run_id,
    job.state as job_state,
    job.submitted_at,
    job.started_at,
    job.ended_at,
    job.is_zone_assumed,
    coalesce(run.queue_wait_s, job.queue_wait_s) as queue_wait_s,
    coalesce(run.admission_wait_s, job.admission_wait_s) as admission_wait_s,
    job.admission_checks_wait_s,
    job.evictions,
    job.queue,
    job.resource_flavor,
    job.zone,
    place.nodes,
    place.node_count,
    case when job.started_at is not null and place.node_count > 0 then coalesce(happened.event_count, 0) end as event_count,
    served.service_name
from benchmark_run_fact as run
left join joined
    on joined.run_id = run.run_id
left join scheduler_job_fact as job
    on
        joined.job_count = 1
        and job.scheduler = joined.scheduler
        and job.cluster is not distinct from joined.cluster
        and job.scheduler_run_id = joined.scheduler_run_id
left join place
    on
        place.scheduler = job.scheduler
        and place.cluster is not distinct from job.cluster
        and place.scheduler_run_id = job.scheduler_run_id
left join happened
    on
        happened.scheduler = job.scheduler
        and happened.cluster is not distinct from job.cluster
        and happened.scheduler_run_id = job.scheduler_run_id
left join served
    on served.pod_uid = run.pod_uid
where run.scheduler_run_id is not null or run.job_uid is not null or run.pod_uid is not null
