/*
description: One row per run with a summary, the backend that was served and the tool's version, where they are stated.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run_id,
    artifact_manifest_digest,
    lower(max(value) filter (where key = 'input_config/backend' or key = 'input_config/endpoint/backend')) as framework,
    'aiperf ' || max(value) filter (where key = 'aiperf_version') as runtime_version
from genai_perf_entry
group by
    run_id,
    artifact_manifest_digest
