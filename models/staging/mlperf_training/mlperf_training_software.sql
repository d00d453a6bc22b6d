/*
description: >
  One row per run: the software that its system description states. The framework is the first piece of its string.
  Versions come from the software object, else from the text; a package of which several versions are stated has none.
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
        *,
        nullif(concat_ws(', ', framework, other_software_stack), '') as software_stack,
        regexp_extract(
            framework, '^([^,;0-9]*?[^ ,;0-9-])[ -]+(?:(?i:release|version) +)?v?([0-9][^ ,;]*)(?:[,;]|$)', ['name', 'version']
        ) as first_piece
    from mlperf_training_system
)

select
    run.run_id,
    run.artifact_manifest_digest,
    stack.driver_version,
    case when 'cuda' not in coalesce(disputed.packages, []) then coalesce(
        stack.cuda_version, nullif(regexp_extract(stack.software_stack, '(?i)\bcuda[ -]v?([0-9][^ ,;]*)', 1), '')
    ) end as cuda_version,
    case when 'rocm' not in coalesce(disputed.packages, []) then coalesce(
        stack.rocm_version, nullif(regexp_extract(stack.software_stack, '(?i)\brocm[ -]v?([0-9][^ ,;]*)', 1), '')
    ) end as rocm_version,
    case when 'nccl' not in coalesce(disputed.packages, []) and 'rccl' not in coalesce(disputed.packages, []) then coalesce(
        stack.nccl_version, nullif(regexp_extract(stack.software_stack, '(?i)\b[nr]ccl[ -]v?([0-9][^ ,;]*)', 1), '')
    ) end as nccl_version,
    lower(coalesce(nullif(stack.first_piece.name, ''), stack.framework)) as framework,
    case
        when lower(stack.first_piece.name) not in coalesce(disputed.packages, []) then nullif(stack.first_piece.version, '')
    end as framework_version,
    stack.operating_system,
    stack.kernel_version,
    stack.software_stack
from mlperf_training_run as run
inner join stack
    on stack.artifact_manifest_digest = run.artifact_manifest_digest
left join disputed
    on disputed.artifact_manifest_digest = run.artifact_manifest_digest
