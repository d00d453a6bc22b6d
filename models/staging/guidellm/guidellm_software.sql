/*
description: >
  One row per report that states the version of its tool. It does not state the server: only names in its path may.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run_id,
    artifact_manifest_digest,
    named_framework as framework,
    'guidellm ' || guidellm_version as runtime_version
from guidellm_run
