/*
description: >
  One row per run: the software that its system description states. The framework is the first piece of its string.
  Versions come from the software object, else from the text.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
with stack as (
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
    coalesce(
        stack.cuda_version, nullif(regexp_extract(stack.software_stack, '(?i)\bcuda[ -]v?([0-9][^ ,;]*)', 1), '')
    ) as cuda_version,
    coalesce(
        stack.rocm_version, nullif(regexp_extract(stack.software_stack, '(?i)\brocm[ -]v?([0-9][^ ,;]*)', 1), '')
    ) as rocm_version,
    coalesce(
        stack.nccl_version, nullif(regexp_extract(stack.software_stack, '(?i)\b[nr]ccl[ -]v?([0-9][^ ,;]*)', 1), '')
    ) as nccl_version,
    lower(coalesce(nullif(stack.first_piece.name, ''), stack.framework)) as framework,
    nullif(stack.first_piece.version, '') as framework_version,
    stack.operating_system,
    stack.kernel_version,
    stack.software_stack
from mlperf_training_run as run
inner join stack
    on stack.artifact_manifest_digest = run.artifact_manifest_digest
