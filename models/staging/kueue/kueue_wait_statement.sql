/*
description: >
  One row per Workload and reason why it waited, from the first snapshot that shows it: why quota was not reserved, and the state of each
  admission check.
grain: [workload, kind, name, state, stated_at, message]
columns:
  workload: {type: varchar, description: "The Workload", tests: [not_null]}
  kind: {type: varchar, description: "quota or admission_check", tests: [not_null, {accepted_values: [quota, admission_check]}]}
  name: {type: varchar, description: "The admission check; QuotaReserved for quota", tests: [not_null]}
  state: {type: varchar, description: "State of the admission check; for quota the reason of the condition"}
  stated_at: {type: timestamptz, unit: UTC, description: "When it came to be so; NULL: not stated"}
  message: {type: varchar, description: "In Kueue's words"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
*/
select
    coalesce(object_uid, concat_ws('/', object_namespace, object_name), raw_path || ':' || raw_offset) as workload,
    if(kind = 'condition', 'quota', 'admission_check') as kind,
    type as name,
    if(kind = 'condition', reason, status) as state,
    transition_at as stated_at,
    message,
    min(artifact_manifest_digest) as artifact_manifest_digest,
    arg_min(raw_path, artifact_manifest_digest || raw_path) as raw_path
from kueue_condition_entry
where
    object_kind = 'Workload'
    and (kind = 'admission_check' or (kind = 'condition' and type = 'QuotaReserved' and status = 'False'))
group by all
