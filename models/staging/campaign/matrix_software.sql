/*
description: One row per stack that a campaign resolved, as a set of packages without a run.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select distinct
    'stack/' || stack_digest as run_id,
    artifact_manifest_digest,
    'python ' || python as runtime_version,
    stack_digest as packages_digest
from matrix_stack
where stack_digest is not null
