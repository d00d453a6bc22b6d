/*
description: >
  One row per run whose path names the serving software. LLMPerf states none.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run_id,
    artifact_manifest_digest,
    named_framework as framework
from llmperf_run
where named_framework is not null
