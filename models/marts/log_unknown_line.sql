/*
description: >
  One row per log and template of a warning or an error that no rule knows: lines that differ in numbers, hexadecimal digits and paths have one
  template. Of each log the 40 most frequent, whether it belongs to a run or not. A rule in ingest/log_rules.toml names them.
grain: [artifact_manifest_digest, raw_path, template]
columns:
  template: {type: varchar, description: "The line, with <n>, <hex> and <path> for what differs", tests: [not_null]}
  severity: {type: varchar, description: "warning, if the line calls itself one, else error", tests: [not_null, {accepted_values: [error, warning]}]}
  count: {type: bigint, description: "Lines of the log", tests: [not_null]}
  line_number: {type: bigint, description: "Number of the first, from 1", tests: [not_null]}
  last_line_number: {type: bigint, description: "Number of the last", tests: [not_null]}
  text: {type: varchar, description: "The first line, at most its first 1,000 bytes", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The log in its bundle", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where the first line begins in the log", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "Its length", tests: [not_null]}
*/
select
    line.template,
    line.severity,
    line.count,
    line.line_number,
    line.last_line_number,
    line.text,
    line.artifact_manifest_digest,
    line.raw_path,
    line.raw_offset,
    line.raw_length
from log_template as line
inner join evidence_bundle as bundle  -- one whose other files are damaged has no rows
    on bundle.artifact_manifest_digest = line.artifact_manifest_digest
