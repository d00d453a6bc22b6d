/*
description: >
  One row per issue: what an ingestor could not read or found odd in a bundle; what is wrong with a run declaration
  (declaration-not-valid, grade-downgraded); each run whose declared model differs from the one in the evidence
  (declaration-disagrees); each run that bundles state differently, which is not published (run-conflict); rows that
  a build left out of a table because they break one of its tests (row-left-out), or that are stated again
  (row-repeated); and what staging models report (they feed issue).
grain: [artifact_manifest_digest, raw_path, issue_number]
collects: issue
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The file", tests: [not_null]}
  issue_number: {type: bigint, feed: false, description: "Which of the file's issues, from 1, in the order of their places", tests: [not_null]}
  family: {type: varchar, feed: false, description: "The bundle's family, as its ingestor is named", tests: [not_null]}
  ingestor_version: {type: bigint, feed: false, description: "The version of the ingestor that raised it"}
  severity: {type: varchar, description: "error: rows or values were lost, or are wrong; warning: the rows are there, look at them; note: harmless, kept for the record", tests: [not_null, {accepted_values: [error, warning, note]}]}
  code: {type: varchar, description: "What kind of issue, stable", tests: [not_null]}
  message: {type: varchar, description: "What was found", tests: [not_null]}
  line_number: {type: bigint, description: "1-based line; NULL where the file has no lines"}
  raw_offset: {type: bigint, unit: bytes, description: "Where in the file", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long; 0: the issue is about the whole file", tests: [not_null]}
  run_id: {type: varchar, description: "The run it concerns, if one"}
*/
with issue as (
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length,
        severity,
        code,
        message,
        line_number,
        run_id
    from evidence_issue
    union all
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length,
        severity,
        code,
        message,
        line_number,
        run_id
    from feed.issue
    union all
    select
        stated.artifact_manifest_digest,
        'manifest.json' as raw_path,
        0 as raw_offset,
        0 as raw_length,
        'error' as severity,
        'run-conflict' as code,
        'bundles disagree about this run'
        || coalesce(' (' || run_bundle.conflict_reason || ')', '')
        || ': it is not published until wh settle says which bundle is its evidence' as message,
        cast(null as bigint) as line_number,
        stated.run_id
    from stated_run as stated
    inner join run_bundle
        on run_bundle.run_id = stated.run_id
    where run_bundle.has_conflict
    union all
    select
        declared.artifact_manifest_digest,
        'manifest.json' as raw_path,
        0 as raw_offset,
        0 as raw_length,
        'warning' as severity,
        'declaration-disagrees' as code,
        'declared is the model ' || declared.model || ', the evidence states ' || stated.model as message,
        cast(null as bigint) as line_number,
        declared.run_id
    from run_declaration as declared
    inner join feed.workload as stated
        on
            stated.run_id = declared.run_id
            and stated.artifact_manifest_digest = declared.artifact_manifest_digest
    where
        lower(declared.model) <> lower(stated.model)
        and stated.protocol is distinct from 'command'  -- a command that was recorded is no model
    union all
    select
        coalesce(rejected.artifact_manifest_digest, run_bundle.artifact_manifest_digest) as artifact_manifest_digest,
        rejected.raw_path,
        rejected.raw_offset,
        rejected.raw_length,
        rejected.severity,
        rejected.code,
        rejected.message,
        cast(null as bigint) as line_number,
        rejected.run_id
    from rejected_row as rejected
    left join run_bundle
        on run_bundle.run_id = rejected.run_id
)

select
    issue.artifact_manifest_digest,
    issue.raw_path,
    row_number() over (
        partition by issue.artifact_manifest_digest, issue.raw_path
        order by issue.raw_offset, issue.code, issue.message, issue.raw_length, issue.run_id
    ) as issue_number,
    bundle.family,
    bundle.ingestor_version,
    issue.severity,
    issue.code,
    issue.message,
    issue.line_number,
    issue.raw_offset,
    issue.raw_length,
    issue.run_id
from issue
inner join evidence_bundle as bundle
    on bundle.artifact_manifest_digest = issue.artifact_manifest_digest
