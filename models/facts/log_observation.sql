/*
description: >
  One row per run, log and rule: a line that is known (ingest/log_rules.toml) was found in a log of the run. The bytes are those of the first
  such line; count says how many there are. A log that belongs to no single run of its bundle counts for all of them.
grain: [run_id, artifact_manifest_digest, raw_path, rule]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  rule: {type: varchar, description: "The rule, such as cuda_graphs_disabled", tests: [not_null]}
  severity: {type: varchar, description: "error: work was lost or cannot go on; warning: slower, or otherwise than expected; note: worth knowing", tests: [not_null, {accepted_values: [error, warning, note]}]}
  meaning: {type: varchar, description: "What the line means", tests: [not_null]}
  source: {type: varchar, description: "Where the program that writes it has it, or its documentation", tests: [not_null]}
  condition: {type: varchar, description: "The setting that the line states of the run; NULL: none"}
  condition_value: {type: varchar, description: "What it was; NULL: no setting"}
  count: {type: bigint, description: "Lines of the log that the rule finds", tests: [not_null]}
  line_number: {type: bigint, description: "Number of the first, from 1", tests: [not_null]}
  last_line_number: {type: bigint, description: "Number of the last", tests: [not_null]}
  last_offset: {type: bigint, unit: bytes, description: "Where the last begins in the log", tests: [not_null]}
  last_length: {type: bigint, unit: bytes, description: "Its length", tests: [not_null]}
  text: {type: varchar, description: "The first line, at most its first 1,000 bytes", tests: [not_null]}
  is_own: {type: boolean, description: "Whether the log is the run's own", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The log in its bundle", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where the first line begins in the log", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "Its length", tests: [not_null]}
*/
select
    log.run_id,
    found.rule,
    found.severity,
    found.meaning,
    found.source,
    found.condition,
    found.condition_value,
    found.count,
    found.line_number,
    found.last_line_number,
    found.last_offset,
    found.last_length,
    found.text,
    log.is_own,
    found.artifact_manifest_digest,
    found.raw_path,
    found.raw_offset,
    found.raw_length
from log_match as found
inner join run_log as log
    on
        log.artifact_manifest_digest = found.artifact_manifest_digest
        and log.raw_path = found.raw_path
