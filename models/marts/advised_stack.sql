/*
description: >
  One row per software stack that thoth-adviser advised, and per document of it that failed and advised none. If several
  bundles state a document, it is read from one of them. The runs of a stack are those with its packages_digest in software_version_dim.
grain: [document_key, stack_number]
columns:
  document_key: {type: varchar, description: "The adviser's document", tests: [not_null]}
  stack_number: {type: bigint, description: "Which of the document's stacks, from 1; NULL: it advised none"}
  stack_key: {type: varchar, description: "The stack"}
  state: {type: varchar, description: "Whether the adviser succeeded", tests: [not_null, {accepted_values: [succeeded, failed, unknown]}]}
  state_reason: {type: varchar, description: "Its own words for a failure"}
  recommendation_type: {type: varchar, description: "What was asked for: stable, latest, performance, security, testing"}
  score: {type: double, description: "The adviser's score; scores of different pipelines do not compare"}
  justification: {type: varchar, description: "Why, as the adviser states it, JSON"}
  packages_digest: {type: varchar, description: "sha256 of the sorted package list"}
  measured_run_count: {type: bigint, description: "Runs in this warehouse with the same packages", tests: [not_null]}
  ended_at: {type: timestamptz, unit: UTC, description: "When the adviser ended"}
  is_zone_assumed: {type: boolean, description: "Whether the time's zone was assumed, not stated"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
*/
with measured as (
    select
        software.packages_digest,
        count(*) as run_count
    from benchmark_run_fact as run
    inner join software_version_dim as software
        on software.software_version_key = run.software_version_key
    where software.packages_digest is not null
    group by software.packages_digest
),

document as (
    select *
    from thoth_document
    where kind = 'adviser'
    qualify row_number() over (partition by document_key order by artifact_manifest_digest, raw_path) = 1
)

select
    document.document_key,
    stack.stack_number,
    stack.stack_key,
    document.state,
    document.state_reason,
    document.subject as recommendation_type,
    stack.score,
    stack.justification,
    stack.packages_digest,
    coalesce(measured.run_count, 0) as measured_run_count,
    document.ended_at,
    document.is_zone_assumed,
    document.artifact_manifest_digest
from document
left join thoth_stack as stack
    on
        stack.document_key = document.document_key
        and stack.artifact_manifest_digest = document.artifact_manifest_digest
left join measured
    on measured.packages_digest = stack.packages_digest
