/*
description: >
  One row per run and key of a performance indicator's JSON, in long form, so that a new indicator needs no new
  column. The suffix of a key is its unit if the indicator states one; else the unit is unknown.
materialized: incremental
key: [run_id]
grain: [run_id, kind, key]
collects: performance_indicator
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  indicator: {type: varchar, description: "The indicator's name", tests: [not_null]}
  component: {type: varchar, description: "The component under test (component or framework in the JSON)"}
  script_sha256: {type: varchar, description: "sha256 of the script that measured: part of what makes two runs comparable"}
  kind: {type: varchar, description: "parameter, result, score, or other", tests: [not_null, {accepted_values: [parameter, result, score, other]}]}
  key: {type: varchar, description: "The key; nested keys are joined with __", tests: [not_null]}
  value_type: {type: varchar, description: "The value's JSON type", tests: [not_null]}
  value_text: {type: varchar, description: "The value as written; NULL for JSON null"}
  value_number: {type: double, description: "The value where it is a finite number"}
  unit: {type: varchar, description: "Unit of the number where a described format states it; NULL: the key's suffix, or none"}
  better: {type: varchar, description: "Which direction is better, where a described format states it; NULL: it does not", tests: [{accepted_values: [lower, higher, neither]}]}
*/
select indicator.*
from feed.performance_indicator as indicator
inner join run_bundle
    on
        run_bundle.run_id = indicator.run_id
        and run_bundle.artifact_manifest_digest = indicator.artifact_manifest_digest
