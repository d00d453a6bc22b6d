/*
description: >
  One row per run: the software that its system description states. The framework string lists components with
  versions, separated by commas. A component that it does not name is NULL.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
with stack as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        system.framework,
        system.operating_system,
        metric.loadgen_version,
        nullif(concat_ws(', ', system.framework, system.other_software_stack), '') as software_stack
    from mlperf_inference_run as run
    inner join mlperf_inference_system as system
        on system.artifact_manifest_digest = run.artifact_manifest_digest
    left join mlperf_inference_metric as metric
        on
            metric.run_id = run.run_id
            and metric.artifact_manifest_digest = run.artifact_manifest_digest
)

select
    run_id,
    artifact_manifest_digest,
    nullif(regexp_extract(software_stack, '(?i)\bdriver(?: version)?[ :]+v?([0-9][^ ,;]*)', 1), '') as driver_version,
    nullif(regexp_extract(software_stack, '(?i)\bcuda[ -]v?([0-9][^ ,;]*)', 1), '') as cuda_version,
    nullif(regexp_extract(software_stack, '(?i)\brocm[ -]v?([0-9][^ ,;]*)', 1), '') as rocm_version,
    nullif(regexp_extract(software_stack, '(?i)\b[nr]ccl[ -]v?([0-9][^ ,;]*)', 1), '') as nccl_version,
    nullif(lower(regexp_extract(framework, '^([^ ,;0-9][^ ,;]*)', 1)), '') as framework,
    nullif(regexp_extract(framework, '^[^ ,;]+ v?([0-9][^ ,;]*)', 1), '') as framework_version,
    'loadgen ' || loadgen_version as runtime_version,
    operating_system,
    software_stack
from stack
