/*
description: >
  One row per statement of the system description of an MLPerf submission, of Inference and of Training.
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The system description", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where the statement is", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long it is", tests: [not_null]}
  benchmark: {type: varchar, description: "Whose submission it is", tests: [not_null, {accepted_values: [inference, training]}]}
  key: {type: varchar, description: "The key as the description writes it; of an object within it, with a slash before each of its keys"}
  value: {type: varchar, description: "The value as text"}
  value_number: {type: double, description: "The value where it is a number"}
*/
select
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length,
    'inference' as benchmark,
    key,
    value,
    value_number
from mlperf_inference_entry
where source = 'system'
union all
select
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length,
    'training' as benchmark,
    key,
    value,
    value_number
from mlperf_training_entry
where source = 'system'
