/*
description: >
  One row per file of Slurm's JSON that states when the controller was asked.
grain: [artifact_manifest_digest, raw_path]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  sampled_at: {type: timestamptz, unit: UTC, description: "When"}
*/
select
    artifact_manifest_digest,
    raw_path,
    max(value_at) as sampled_at
from slurm_diagnostic_entry
where key in ('last_update', 'req_time')
group by
    artifact_manifest_digest,
    raw_path
