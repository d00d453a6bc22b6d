/*
description: >
  One row per file of results: the model, its tasks with their versions and shots, and what else changes the answers.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    run.workload_spec_digest,
    run.workload_document,
    run.model,
    served.precision,
    'lm-eval' as protocol,
    run.concurrency as concurrency_point
from lm_eval_run as run
left join lm_eval_deployment as served
    on
        served.run_id = run.run_id
        and served.artifact_manifest_digest = run.artifact_manifest_digest
