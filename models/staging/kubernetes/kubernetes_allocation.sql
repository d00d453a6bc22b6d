/*
description: >
  One row per pod that was on a node, from its newest snapshot. It ends when its last container did, if its phase says that it has. Its job
  is the Workload of Kueue whose object it, or its owner, is.
feeds: allocation
*/
with finished as (
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        max(finished_at) as finished_at
    from kubernetes_container_entry
    where state = 'terminated' and not is_last
    group by
        artifact_manifest_digest,
        raw_path,
        raw_offset
),

workload as (
    select
        job_uid,
        min(scheduler_run_id) as scheduler_run_id
    from scheduler_job_fact
    where scheduler = 'kueue' and job_uid is not null
    group by job_uid
    having count(*) = 1
),

owned as (
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        unnest([uid, job_uid, owner_uid]) as uid
    from kubernetes_pod
),

pod_workload as (
    select
        owned.artifact_manifest_digest,
        owned.raw_path,
        owned.raw_offset,
        min(workload.scheduler_run_id) as scheduler_run_id
    from owned
    inner join workload
        on workload.job_uid = owned.uid
    group by
        owned.artifact_manifest_digest,
        owned.raw_path,
        owned.raw_offset
)

select
    case when workload.scheduler_run_id is null then 'kubernetes' else 'kueue' end as scheduler,
    workload.scheduler_run_id,
    coalesce(pod.job_uid, pod.owner_uid) as job_uid,
    coalesce(pod.uid, concat_ws('/', pod.namespace, pod.name)) as pod_uid,
    pod.name as pod_name,
    pod.namespace,
    pod.service_name,
    pod.node_name,
    pod.gpu_count,
    pod.started_at,
    case when pod.phase in ('Succeeded', 'Failed') then finished.finished_at end as ended_at,
    false as is_zone_assumed,
    pod.artifact_manifest_digest
from kubernetes_pod as pod
left join finished
    on
        finished.artifact_manifest_digest = pod.artifact_manifest_digest
        and finished.raw_path = pod.raw_path
        and finished.raw_offset = pod.raw_offset
left join pod_workload as workload
    on
        workload.artifact_manifest_digest = pod.artifact_manifest_digest
        and workload.raw_path = pod.raw_path
        and workload.raw_offset = pod.raw_offset
where pod.node_name is not null
qualify
    row_number() over (
        partition by coalesce(pod.uid, concat_ws('/', pod.namespace, pod.name))
        order by
            try_cast(pod.resource_version as hugeint) desc nulls last,
            pod.artifact_manifest_digest,
            pod.raw_path,
            pod.raw_offset
    ) = 1
