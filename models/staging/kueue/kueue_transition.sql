/*
description: >
  One row per Workload, condition and status: the first and last transition to it that any snapshot shows. A snapshot has only the last
  transition of each condition.
grain: [workload, type, status]
columns:
  workload: {type: varchar, description: "The Workload", tests: [not_null]}
  type: {type: varchar, description: "Condition", tests: [not_null]}
  status: {type: varchar, description: "Status"}
  first_at: {type: timestamptz, unit: UTC, description: "First transition that is known"}
  last_at: {type: timestamptz, unit: UTC, description: "Last transition that is known"}
  transitions: {type: bigint, description: "Transitions that are known", tests: [not_null]}
*/
select
    coalesce(object_uid, concat_ws('/', object_namespace, object_name), raw_path || ':' || raw_offset) as workload,
    type,
    status,
    min(transition_at) as first_at,
    max(transition_at) as last_at,
    count(distinct transition_at) as transitions
from kueue_condition_entry
where object_kind = 'Workload' and kind = 'condition'
group by
    workload,
    type,
    status
