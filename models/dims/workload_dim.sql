/*
description: >
  One row per frozen workload spec. The document is kept whole: what the evidence states or, for a run with a
  declaration, {"declared": [...], "stated": ...}. The columns are read from it, and a declared value takes
  precedence, so two runs with the same digest always have the same row.
grain: [workload_spec_digest]
columns:
  workload_spec_digest: {tests: [not_null, unique]}
  workload_document: {tests: [not_null]}
  declared_spec_digest: {type: varchar, description: "sha256 of the declared document, as wh validate prints it; NULL: none was declared"}
*/
select
    workload_spec_digest,
    workload_document,
    declared_spec_digest,
    model,
    precision,
    protocol,
    deployment_model,
    batching_policy,
    concurrency_point,
    prompt_distribution,
    completion_distribution
from run_workload
group by all
