/*
description: >
  One row: the issues of all evidence by severity (ingest_issue says what they are).
materialized: view
role: hot_metrics
columns:
  errors: {type: bigint, description: "Issues because of which rows or values were lost, or are wrong"}
  warnings: {type: bigint, description: "Issues to look at; the rows are there"}
  notes: {type: bigint, description: "Harmless issues, kept for the record"}
*/
select
    count(*) filter (severity = 'error') as errors,
    count(*) filter (severity = 'warning') as warnings,
    count(*) filter (severity = 'note') as notes
from ingest_issue
