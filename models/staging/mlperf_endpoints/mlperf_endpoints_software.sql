/*
description: >
  One row per report of MLPerf Endpoints: the version of the load generator. The server is in no file that it writes.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run_id,
    artifact_manifest_digest,
    'mlperf-endpoints ' || tool_version as runtime_version
from mlperf_endpoints_metric
where tool_version is not null
