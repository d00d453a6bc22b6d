/*
description: >
  One row per report of MLPerf Endpoints: the version of the load generator. The server is in no file that it writes: only
  names in the path may tell it.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    run.named_framework as framework,
    'mlperf-endpoints ' || metric.tool_version as runtime_version
from mlperf_endpoints_run as run
left join mlperf_endpoints_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
where coalesce(run.named_framework, metric.tool_version) is not null
