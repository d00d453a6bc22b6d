/*
description: >
  One row per result of an Amun inspection, with the inspection's requests and build, and one per inspection that has no
  result: what the result used, the machine it ran on, and the file that states it.
grain: [artifact_manifest_digest, run_id]
columns:
  inspection_id: {type: varchar, description: "The inspection", tests: [not_null]}
  run_id: {type: varchar, description: "The run; NULL: the inspection has no result, and its build did not fail"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The file that states the result; without a result, the specification"}
  requested_batch_size: {type: bigint, description: "Results that were asked for"}
  result_count: {type: bigint, description: "Results that are in the evidence"}
  build_state: {type: varchar, description: "How the build ended: succeeded, failed, unknown; NULL: it has no log"}
  build_reason: {type: varchar, description: "The log's own words for it"}
  base_image: {type: varchar, description: "The image that the inspection's was built on: a tag, not a digest"}
  run_cpu: {type: varchar, description: "CPUs that the run was limited to, as requested"}
  run_memory: {type: varchar, description: "Memory that the run was limited to, as requested"}
  pod_name: {type: varchar, description: "The pod; the node is not stated"}
  cpu_s: {type: double, unit: s, description: "CPU time of the script and its interpreter, user and system"}
  involuntary_context_switches: {type: bigint, description: "Context switches forced on the script (ru_nivcsw)"}
  voluntary_context_switches: {type: bigint, description: "Context switches that it asked for by waiting (ru_nvcsw)"}
  cpu_model: {type: varchar, description: "Host processor model"}
  cpu_count: {type: bigint, description: "Logical CPUs of the host"}
  cpu_hz_actual: {type: bigint, unit: Hz, description: "Clock when the machine was described, before the script ran"}
  cpu_hz_advertised: {type: bigint, unit: Hz, description: "Clock by the processor's name"}
  cpu_flag_count: {type: bigint, description: "Processor flags"}
  cpu_flags_digest: {type: varchar, description: "sha256 of the sorted flags"}
  l1_data_cache_bytes: {type: bigint, unit: bytes, description: "Level 1 data cache"}
  l1_instruction_cache_bytes: {type: bigint, unit: bytes, description: "Level 1 instruction cache"}
  l2_cache_bytes: {type: bigint, unit: bytes, description: "Level 2 cache"}
  l3_cache_bytes: {type: bigint, unit: bytes, description: "Level 3 cache"}
*/
with bundles as (
    select
        artifact_manifest_digest,
        inspection_id
    from thoth_inspection
    union
    select
        artifact_manifest_digest,
        inspection_id
    from thoth_run
)

select
    bundles.inspection_id,
    run.run_id,
    bundles.artifact_manifest_digest,
    coalesce(run.raw_path, inspection.raw_path) as raw_path,
    inspection.requested_batch_size,
    inspection.result_count,
    build.state as build_state,
    build.reason as build_reason,
    inspection.base_image,
    inspection.run_cpu,
    inspection.run_memory,
    run.hostname as pod_name,
    run.user_cpu_s + run.system_cpu_s as cpu_s,
    run.involuntary_context_switches,
    run.voluntary_context_switches,
    run.cpu_model,
    run.cpu_count,
    run.cpu_hz_actual,
    run.cpu_hz_advertised,
    run.cpu_flag_count,
    run.cpu_flags_digest,
    run.l1_data_cache_bytes,
    run.l1_instruction_cache_bytes,
    run.l2_cache_bytes,
    run.l3_cache_bytes
from bundles
left join thoth_run as run
    on run.artifact_manifest_digest = bundles.artifact_manifest_digest
left join thoth_inspection as inspection
    on inspection.artifact_manifest_digest = bundles.artifact_manifest_digest
left join thoth_build as build
    on build.artifact_manifest_digest = bundles.artifact_manifest_digest
