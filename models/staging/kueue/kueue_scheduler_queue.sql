/*
description: >
  One row per snapshot of a queue, flavor and resource; of a queue without quota one row. An object does not state when it was read.
feeds: scheduler_queue
*/
select
    'kueue' as scheduler,
    case when queue.kind = 'LocalQueue' then queue.name end as queue,
    queue.cluster_queue,
    queue.namespace,
    quota.flavor as resource_flavor,
    quota.resource,
    quota.nominal_quota,
    quota.used,
    quota.reserved,
    quota.borrowed,
    queue.pending_workloads,
    queue.reserving_workloads,
    queue.admitted_workloads,
    queue.artifact_manifest_digest,
    queue.raw_path,
    queue.raw_offset,
    queue.raw_length
from kueue_queue as queue
left join kueue_quota_entry as quota
    on
        quota.artifact_manifest_digest = queue.artifact_manifest_digest
        and quota.raw_path = queue.raw_path
        and quota.raw_offset = queue.raw_offset
