/*
description: >
  One row per unique combination of software versions that a run states. What a run does not state is NULL.
grain: [software_version_key]
columns:
  software_version_key: {type: varchar, description: "Digest of the columns below", tests: [not_null, unique]}
  image_digest: {type: varchar, description: "Container image digest"}
  driver_version: {type: varchar, description: "Accelerator driver"}
  cuda_version: {type: varchar, description: "CUDA"}
  rocm_version: {type: varchar, description: "ROCm"}
  nccl_version: {type: varchar, description: "NCCL or RCCL"}
  framework: {type: varchar, description: "Framework, lower case: pytorch, tensorrt, vllm, duckdb"}
  framework_version: {type: varchar, description: "Its version as written"}
  runtime_version: {type: varchar, description: "Language runtime or load generator, with its name"}
  server_version: {type: varchar, description: "Serving software, with its name"}
  operating_system: {type: varchar, description: "Operating system as written"}
  kernel_version: {type: varchar, description: "Kernel"}
  software_stack: {type: varchar, description: "The whole stack in the evidence's own words"}
  packages_digest: {type: varchar, description: "sha256 of the sorted package list"}
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
