/*
description: >
  One row per run of MLflow that states parameters, or a task of lightgbm-benchmark.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    json_extract_string(workload_document, '$.tags.benchmark_model') as model,
    'command' as protocol
from mlflow_run
where workload_spec_digest is not null
