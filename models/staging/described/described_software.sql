/*
description: >
  One row per run of a described format: the software that it states.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run_id,
    artifact_manifest_digest,
    framework,
    framework_version,
    runtime_version,
    server_version,
    driver_version,
    cuda_version,
    rocm_version,
    nccl_version,
    operating_system,
    kernel_version,
    software_stack,
    image_digest
from described_run
