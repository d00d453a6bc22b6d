/*
description: >
  One row per run: the versions that its log states. A NCCL version code is major * 10000 + minor * 100 + patch,
  before 2.9 major * 1000 + minor * 100 + patch (nccl.h, NCCL_VERSION). A CUDA version code is major * 1000 + minor *
  10 (cudaRuntimeGetVersion).
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
with stated as (
    select
        run_id,
        artifact_manifest_digest,
        try_cast(max(value_number) filter (where key = 'nccl-library') as bigint) as nccl_code,
        max(value) filter (where key in ('NCCL version', 'RCCL version')) as nccl_text,
        max(value) filter (where key = 'Driver Version') as driver_version,
        max(value) filter (where key = 'CUDA Runtime Version') as cuda_text,
        max(value) filter (where key = 'ROCm version') as rocm_version
    from fabric_check_entry
    where
        source = 'log'
        and test_index is null
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    run.artifact_manifest_digest,
    stated.driver_version,
    case
        when regexp_full_match(stated.cuda_text, '[0-9]{4,6}')
            then (stated.cuda_text::bigint // 1000)::varchar || '.' || (stated.cuda_text::bigint % 1000 // 10)::varchar
        else nullif(regexp_extract(stated.cuda_text, '^([0-9]+\.[0-9]+)', 1), '')
    end as cuda_version,
    stated.rocm_version,
    coalesce(
        stated.nccl_text,
        case
            when stated.nccl_code >= 10000
                then concat_ws('.', stated.nccl_code // 10000, stated.nccl_code // 100 % 100, stated.nccl_code % 100)
            when stated.nccl_code >= 1000
                then concat_ws('.', stated.nccl_code // 1000, stated.nccl_code // 100 % 10, stated.nccl_code % 100)
        end
    ) as nccl_version,
    run.tool || ' ' || run.tool_version as runtime_version
from fabric_check_run as run
left join stated
    on
        stated.run_id = run.run_id
        and stated.artifact_manifest_digest = run.artifact_manifest_digest
