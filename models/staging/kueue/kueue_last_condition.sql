/*
description: >
  One row per Workload: the condition of its newest snapshot that changed last. Of two in the same second, the one that is later in the list.
grain: [workload]
columns:
  workload: {type: varchar, description: "The Workload", tests: [not_null, unique]}
  type: {type: varchar, description: "Condition", tests: [not_null]}
  status: {type: varchar, description: "Status"}
  reason: {type: varchar, description: "Reason"}
  message: {type: varchar, description: "Message"}
  is_admitted: {type: boolean, description: "Whether the snapshot says that it is admitted", tests: [not_null]}
*/
select
    snapshot.workload,
    entry.type,
    entry.status,
    entry.reason,
    entry.message,
    coalesce(bool_or(entry.type = 'Admitted' and entry.status = 'True') over (partition by snapshot.workload), false) as is_admitted
from kueue_snapshot as snapshot
inner join kueue_condition_entry as entry
    on
        entry.artifact_manifest_digest = snapshot.artifact_manifest_digest
        and entry.raw_path = snapshot.raw_path
        and entry.raw_offset = snapshot.raw_offset
        and entry.object_kind = 'Workload'
        and entry.kind = 'condition'
qualify
    row_number() over (
        partition by snapshot.workload
        order by
            entry.transition_at desc nulls last,
            entry.position desc
    ) = 1
