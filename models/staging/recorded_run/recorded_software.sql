/*
description: >
  One row per recorded run: the software it ran with.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run_id,
    artifact_manifest_digest,
    gpu_driver_version as driver_version,
    cuda_version,
    lower(component) as framework,
    'python ' || python_version as runtime_version,
    nullif(concat_ws(' ', os_name, os_version), '') as operating_system,
    kernel_version,
    sha256(packages) as packages_digest
from recorded_run
