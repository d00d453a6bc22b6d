/*
description: >
  One row per finding of wh changes that was recorded or marked: a change of a series, its size, and what was decided
  about it. The rows are the last mark of each finding in the ledger; findings without a mark are not here,
  because wh changes finds them again. Findings are decisions about numbers, not evidence, so nothing in this table
  can be published.
grain: [finding_id]
columns:
  finding_id: {type: varchar, description: "The finding: rule, series, direction, and the level that the change ends", tests: [not_null, unique]}
  state: {type: varchar, description: "What was decided about it", tests: [not_null, {accepted_values: [open, acknowledged, explained, fixed, false-alarm]}]}
  reason: {type: varchar, description: "Why, in the words of the person who marked it", tests: [not_null]}
  rule: {type: varchar, description: "The rule that found it, with its version; findings of other versions are not comparable"}
  series_key: {type: varchar, description: "The series, as in mart.measurement"}
  indicator: {type: varchar, description: "What measured"}
  metric: {type: varchar, description: "The metric"}
  point: {type: varchar, description: "The point of the workload"}
  benchmark_case_id: {type: varchar, description: "What is measured"}
  status: {type: varchar, description: "confirmed or suspected, when it was marked"}
  outcome: {type: varchar, description: "better or worse; higher or lower for a metric without a direction"}
  before: {type: double, description: "Median before the change, in the metric's unit"}
  after: {type: double, description: "Median after it, in the metric's unit"}
  ratio: {type: double, description: "After over before"}
  ratio_low: {type: double, description: "Lower end of its 95 % interval; NULL where there are too few runs for one"}
  ratio_high: {type: double, description: "Upper end"}
  p: {type: double, description: "How likely such a change is in a series without one"}
  changed_at: {type: timestamptz, unit: UTC, description: "Start of the first run after the change"}
  last_run_before: {type: varchar, description: "The run before it"}
  first_run_after: {type: varchar, description: "The first run after it"}
  decided_at: {type: timestamptz, unit: UTC, description: "When it was marked"}
  decided_by: {type: varchar, description: "User and host"}
  event_key: {type: varchar, description: "The ledger's event, in the store"}
  event_sha256: {type: varchar, description: "sha256 of that event"}
*/
select *
from change_finding
