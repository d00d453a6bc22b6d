/*
description: >
  One row per run: the software that its system description states. The framework string lists components with
  versions, separated by commas. A component that it does not name is NULL, and so is one of which it states several versions.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
with disputed as (
    select
        artifact_manifest_digest,
        list(package order by package) as packages
    from mlperf_several_versions
    group by artifact_manifest_digest
),

stack as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        system.framework,
        system.operating_system,
        metric.loadgen_version,
        coalesce(disputed.packages, []) as disputed,
        nullif(concat_ws(', ', system.framework, system.other_software_stack), '') as software_stack
    from mlperf_inference_run as run
    inner join mlperf_inference_system as system
        on system.artifact_manifest_digest = run.artifact_manifest_digest
    left join mlperf_inference_metric as metric
        on
            metric.run_id = run.run_id
            and metric.artifact_manifest_digest = run.artifact_manifest_digest
    left join disputed
        on disputed.artifact_manifest_digest = run.artifact_manifest_digest
)

select
    run_id,
    artifact_manifest_digest,
    nullif(regexp_extract(software_stack, '(?i)\bdriver(?: version)?[ :]+v?([0-9][^ ,;]*)', 1), '') as driver_version,
    if('cuda' in disputed, null, nullif(regexp_extract(software_stack, '(?i)\bcuda[ -]v?([0-9][^ ,;]*)', 1), '')) as cuda_version,
    if('rocm' in disputed, null, nullif(regexp_extract(software_stack, '(?i)\brocm[ -]v?([0-9][^ ,;]*)', 1), '')) as rocm_version,
    if(
        'nccl' in disputed or 'rccl' in disputed, null, nullif(regexp_extract(software_stack, '(?i)\b[nr]ccl[ -]v?([0-9][^ ,;]*)', 1), '')
    ) as nccl_version,
    nullif(lower(regexp_extract(framework, '^([^ ,;0-9][^ ,;]*)', 1)), '') as framework,
    if(
        lower(regexp_extract(framework, '^([^ ,;0-9][^ ,;]*)', 1)) in disputed, null,
        nullif(regexp_extract(framework, '^[^ ,;]+ v?([0-9][^ ,;]*)', 1), '')
    ) as framework_version,
    'loadgen ' || loadgen_version as runtime_version,
    operating_system,
    software_stack
from stack
