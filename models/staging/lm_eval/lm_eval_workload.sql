/*
description: >
  One row per file of results: the model, its tasks with their versions and shots, and what else changes the answers.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    model,
    'lm-eval' as protocol,
    concurrency as concurrency_point
from lm_eval_run
