/*
description: >
  One row per run of a described format: what it was asked to do.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    coalesce(model, benchmark_case_id) as model,
    precision,
    coalesce(protocol, family) as protocol,
    concurrency_point,
    prompt_distribution,
    completion_distribution
from described_run
