/*
description: >
  One row per report of MLPerf Endpoints: the load that was asked for, and the model of its configuration.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    run.workload_spec_digest,
    run.workload_document,
    configuration.model,
    run.load_pattern as protocol,
    run.concurrency as concurrency_point
from mlperf_endpoints_run as run
left join mlperf_endpoints_configuration as configuration
    on
        configuration.run_id = run.run_id
        and configuration.artifact_manifest_digest = run.artifact_manifest_digest
