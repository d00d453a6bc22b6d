/*
description: >
  One row per Slurm job that a failure, a limit or another job ended, and per node that is down or drained.
feeds: cluster_event
*/
select
    'slurm' as source,
    state as code,
    ended_at as event_at,
    is_zone_assumed,
    'stated' as certainty,
    null as node_name,
    scheduler_run_id as object_id,
    job_name as object_name,
    state_reason as message,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from scheduler_job_fact
where
    scheduler = 'slurm'
    and state in ('NODE_FAIL', 'OUT_OF_MEMORY', 'TIMEOUT', 'PREEMPTED', 'BOOT_FAIL', 'DEADLINE', 'REQUEUED')
union all
select
    'slurm' as source,
    case when contains(state, 'DRAIN') then 'NODE_DRAIN' else 'NODE_DOWN' end as code,
    reason_at as event_at,
    is_zone_assumed,
    'stated' as certainty,
    node_name,
    null as object_id,
    null as object_name,
    reason as message,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from slurm_node
where contains(state, 'DRAIN') or regexp_matches(state, '(^|\+)(DOWN|FAIL)')  -- POWERED_DOWN is saving power
