/*
description: One row per profile of Nsight Compute or Nsight Systems. Neither states a time.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    profile.run_id,
    'nsight/' || json_extract_string(profile.workload_document, '$.profile') as benchmark_case_id,
    profile.workload_spec_digest,
    profile.artifact_manifest_digest,
    profile.raw_path as raw_folder,
    'nsight' as family,
    'performance' as mode,
    'exploratory' as intent,
    case
        when profile.error is not null then 'failed'
        when count(kernel.position) > 0 then 'succeeded'
        else 'unknown'
    end as status,
    profile.error as status_reason,
    profile.host_name as node_name
from nsight_profile as profile
left join nsight_kernel as kernel
    on
        kernel.run_id = profile.run_id
        and kernel.artifact_manifest_digest = profile.artifact_manifest_digest
group by
    profile.run_id,
    profile.workload_document,
    profile.workload_spec_digest,
    profile.artifact_manifest_digest,
    profile.raw_path,
    profile.error,
    profile.host_name
