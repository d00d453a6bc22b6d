/*
description: >
  One row per unique combination of software versions that a run states. What a run does not state is NULL.
grain: [software_version_key]
columns:
  software_version_key: {type: varchar, description: "Digest of the columns below", tests: [not_null, unique]}
*/
select
    software_version_key,
    image_digest,
    driver_version,
    cuda_version,
    rocm_version,
    nccl_version,
    framework,
    framework_version,
    runtime_version,
    server_version,
    operating_system,
    kernel_version,
    software_stack,
    packages_digest
from run_software
where software_version_key is not null
group by all
