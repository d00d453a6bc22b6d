/*
description: >
  One row per run and bundle that states software. The key is a digest of what is stated.
grain: [run_id, artifact_manifest_digest]
collects: software_version
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
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
  software_version_key: {type: varchar, description: "Digest of the columns above; NULL when nothing is stated", feed: false}
*/
select
    *,
    case
        when
            coalesce(
                image_digest, driver_version, cuda_version, rocm_version, nccl_version, framework, framework_version,
                runtime_version, server_version, operating_system, kernel_version, software_stack, packages_digest
            ) is not null
            then left(sha256(to_json([
                image_digest, driver_version, cuda_version, rocm_version, nccl_version, framework, framework_version,
                runtime_version, server_version, operating_system, kernel_version, software_stack, packages_digest
            ])::varchar), 32)
    end as software_version_key
from feed.software_version
