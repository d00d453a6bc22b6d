/*
description: >
  One row per Workload: the condition of its newest snapshot that decides its state, as Kueue itself reads them (func Status in
  pkg/workload/workload.go): finished before evicted, evicted before admitted, admitted before a reservation of quota. An eviction is over
  when its quota is released; when quota is reserved again, Evicted and Preempted are False. Of a Workload that waits it is the condition
  that changed last; of two in the same second, the one that is later in the list.
grain: [workload]
columns:
  workload: {tests: [not_null, unique]}
  state: {type: varchar, description: "State by its conditions", tests: [not_null, {accepted_values: [pending, quota_reserved, admitted, running, evicted, preempted, finished]}]}
  type: {type: varchar, description: "Condition", tests: [not_null]}
  reason: {type: varchar, description: "Reason"}
*/
with entry as (
    select
        snapshot.workload,
        entry.type,
        entry.status,
        entry.reason,
        entry.transition_at,
        entry.position,
        max(entry.transition_at) filter (where entry.type = 'Admitted' and entry.status = 'True') over (partition by snapshot.workload) as admitted_at,
        bool_or(entry.type = 'Admitted' and entry.status = 'True') over (partition by snapshot.workload) as is_admitted,
        bool_or(entry.type = 'QuotaReserved' and entry.status = 'False') over (partition by snapshot.workload) as is_released
    from kueue_snapshot as snapshot
    inner join kueue_condition_entry as entry
        on
            entry.artifact_manifest_digest = snapshot.artifact_manifest_digest
            and entry.raw_path = snapshot.raw_path
            and entry.raw_offset = snapshot.raw_offset
            and entry.object_kind = 'Workload'
            and entry.kind = 'condition'
),

ranked as (
    select
        *,
        case
            when status <> 'True' then 9
            when type = 'Finished' then 0
            when type = 'Preempted' and not is_released then 1
            when type = 'Evicted' and not is_released then 2
            when type = 'PodsReady' and is_admitted and coalesce(transition_at >= admitted_at, true) then 3
            when type = 'Admitted' then 4
            when type = 'QuotaReserved' then 5
            else 9
        end as place
    from entry
)

select
    workload,
    case place
        when 0 then 'finished'
        when 1 then 'preempted'
        when 2 then 'evicted'
        when 3 then 'running'
        when 4 then 'admitted'
        when 5 then 'quota_reserved'
        else 'pending'
    end as state,
    type,
    reason
from ranked
qualify
    row_number() over (
        partition by workload
        order by
            place,
            transition_at desc nulls last,
            position desc
    ) = 1
