/*
description: >
  One row per run and bundle with a declaration: what the declarations nearest to the run's folder state, a
  BenchmarkRun before a workload spec. A declaration that breaks a rule is ignored, together with all declarations
  above it, and reported in ingest_issue.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  declared_document: {type: varchar, description: "The frozen documents, a canonical JSON list", tests: [not_null]}
  declared_spec_digest: {type: varchar, description: "sha256 of the workload spec, or else of the BenchmarkRun, as wh validate prints it", tests: [not_null]}
  intent: {type: varchar, description: "publication, exploratory or validation"}
  cadence: {type: varchar, description: "canary, nightly, pre_release, or as written"}
  benchmark_grade: {type: varchar, description: "The grade that the declared guarantees justify", tests: [{accepted_values: [publication_grade, realism_grade]}]}
  grade_reason: {type: varchar, description: "Why the grade is less than what was declared"}
  scheduler_path: {type: varchar, description: "How the run is scheduled"}
  model: {type: varchar, description: "The model under test"}
  precision: {type: varchar, description: "Weight data type as written"}
  protocol: {type: varchar, description: "How load is generated"}
  deployment_model: {type: varchar, description: "Parallelism and placement"}
  batching_policy: {type: varchar, description: "Batching policy"}
  concurrency_point: {type: bigint, description: "Requests in flight, where the declaration fixes one"}
  prompt_distribution: {type: varchar, description: "Input lengths"}
  completion_distribution: {type: varchar, description: "Output lengths"}
*/
with declared as (
    select
        stated.run_id,
        declaration.*
    from stated_run as stated
    inner join evidence_declaration as declaration
        on
            declaration.artifact_manifest_digest = stated.artifact_manifest_digest
            and starts_with(stated.raw_folder, declaration.raw_folder)
),

nearest as (
    select
        run_id,
        artifact_manifest_digest,
        kind,
        max(length(raw_folder)) as depth
    from declared
    group by
        run_id,
        artifact_manifest_digest,
        kind
),

said as (
    select declared.*
    from declared
    inner join nearest
        on
            nearest.run_id = declared.run_id
            and nearest.artifact_manifest_digest = declared.artifact_manifest_digest
            and nearest.kind = declared.kind
            and nearest.depth = length(declared.raw_folder)
    where declared.workload_document is not null
),

-- Each document whole and in one order: a set of declarations has one digest.
document as (
    select
        run_id,
        artifact_manifest_digest,
        '[' || string_agg(workload_document, ',' order by kind, workload_document) || ']' as declared_document
    from said
    group by
        run_id,
        artifact_manifest_digest
)

select
    document.run_id,
    document.artifact_manifest_digest,
    document.declared_document,
    coalesce(spec.declared_spec_digest, run.declared_spec_digest) as declared_spec_digest,
    coalesce(run.intent, spec.intent) as intent,
    coalesce(run.cadence, spec.cadence) as cadence,
    coalesce(run.benchmark_grade, spec.benchmark_grade) as benchmark_grade,
    case when run.benchmark_grade is not null then run.grade_reason else spec.grade_reason end as grade_reason,
    coalesce(run.scheduler_path, spec.scheduler_path) as scheduler_path,
    coalesce(run.model, spec.model) as model,
    coalesce(run.precision, spec.precision) as precision,
    coalesce(spec.protocol, run.protocol) as protocol,
    coalesce(run.deployment_model, spec.deployment_model) as deployment_model,
    coalesce(run.batching_policy, spec.batching_policy) as batching_policy,
    coalesce(run.concurrency_point, spec.concurrency_point) as concurrency_point,
    coalesce(run.prompt_distribution, spec.prompt_distribution) as prompt_distribution,
    coalesce(run.completion_distribution, spec.completion_distribution) as completion_distribution
from document
left join said as run
    on
        run.run_id = document.run_id
        and run.artifact_manifest_digest = document.artifact_manifest_digest
        and run.kind = 'BenchmarkRun'
left join said as spec
    on
        spec.run_id = document.run_id
        and spec.artifact_manifest_digest = document.artifact_manifest_digest
        and spec.kind = 'WorkloadSpec'
