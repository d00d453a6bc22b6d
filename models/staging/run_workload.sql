/*
description: >
  One row per run and bundle that states a workload, in its evidence or by a declaration. The document is kept whole,
  with what is declared and what the evidence states beside each other. The columns are read from it, and a declared
  value takes precedence.
grain: [run_id, artifact_manifest_digest]
collects: workload
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  workload_spec_digest: {type: varchar, description: "sha256 of the canonical frozen workload document", tests: [not_null]}
  workload_document: {type: varchar, description: "The document itself, canonical JSON", tests: [not_null]}
  declared_spec_digest: {type: varchar, description: "sha256 of the declared document; NULL: none was declared", feed: false}
  model: {type: varchar, description: "The model or kernel under test"}
  precision: {type: varchar, description: "Weight data type as written"}
  protocol: {type: varchar, description: "How load is generated: a scenario or a wire protocol"}
  deployment_model: {type: varchar, description: "Parallelism and placement"}
  batching_policy: {type: varchar, description: "Batching policy"}
  concurrency_point: {type: bigint, description: "Requests in flight, where the workload fixes it"}
  prompt_distribution: {type: varchar, description: "Input lengths"}
  completion_distribution: {type: varchar, description: "Output lengths"}
*/
with bundle as (
    select
        run_id,
        artifact_manifest_digest
    from feed.workload
    union
    select
        run_id,
        artifact_manifest_digest
    from run_declaration
)

select
    bundle.run_id,
    bundle.artifact_manifest_digest,
    case
        when declared.declared_document is null then stated.workload_spec_digest
        else sha256(
            '{"declared":' || declared.declared_document || coalesce(',"stated":' || stated.workload_document, '') || '}'
        )
    end as workload_spec_digest,
    case
        when declared.declared_document is null then stated.workload_document
        else '{"declared":' || declared.declared_document || coalesce(',"stated":' || stated.workload_document, '') || '}'
    end as workload_document,
    declared.declared_spec_digest,
    coalesce(declared.model, stated.model) as model,
    coalesce(declared.precision, stated.precision) as precision,
    coalesce(declared.protocol, stated.protocol) as protocol,
    coalesce(declared.deployment_model, stated.deployment_model) as deployment_model,
    coalesce(declared.batching_policy, stated.batching_policy) as batching_policy,
    coalesce(declared.concurrency_point, stated.concurrency_point) as concurrency_point,
    coalesce(declared.prompt_distribution, stated.prompt_distribution) as prompt_distribution,
    coalesce(declared.completion_distribution, stated.completion_distribution) as completion_distribution
from bundle
left join feed.workload as stated
    on
        stated.run_id = bundle.run_id
        and stated.artifact_manifest_digest = bundle.artifact_manifest_digest
left join run_declaration as declared
    on
        declared.run_id = bundle.run_id
        and declared.artifact_manifest_digest = bundle.artifact_manifest_digest
