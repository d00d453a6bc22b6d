/*
description: >
  One row per test of a cluster run: the software that its own document states, and what all of its nodes have in common. NCCL is what the
  test's document states; the version that a node has installed is a component. A served model runs in a container, whose CUDA is not the
  node's. The suite itself is the load generator: its commit is stated since version 2 of the manifest.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
with common as (
    select
        member.run_id,
        member.artifact_manifest_digest,
        if(min(node.driver_version) = max(node.driver_version), min(node.driver_version), null) as driver_version,
        if(min(node.cuda_version) = max(node.cuda_version), min(node.cuda_version), null) as cuda_version,
        if(min(node.operating_system) = max(node.operating_system), min(node.operating_system), null) as operating_system,
        if(min(node.kernel_version) = max(node.kernel_version), min(node.kernel_version), null) as kernel_version
    from aisp_run_node as member
    inner join aisp_node as node
        on
            node.artifact_manifest_digest = member.artifact_manifest_digest
            and node.node = member.node
    group by
        member.run_id,
        member.artifact_manifest_digest
),

stated as (
    select
        run_id,
        artifact_manifest_digest,
        max(value) filter (where key = 'image/digest') as image_digest,
        max(value) filter (where key = 'image/pinned') as image,
        max(value) filter (where key in ('software/torch_version', 'versions/torch', 'torch_version')) as torch_version,
        max(value) filter (where key in ('software/cuda_version', 'versions/cuda', 'cuda_version')) as cuda_version,
        max(value) filter (where key = 'software/nccl_version') as nccl_version
    from aisp_entry
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    run.artifact_manifest_digest,
    stated.image_digest,
    common.driver_version,
    coalesce(stated.cuda_version, if(run.kind = 'serving', null, common.cuda_version)) as cuda_version,
    stated.nccl_version,
    case when stated.torch_version is not null then 'pytorch' when run.kind = 'serving' then 'vllm' end as framework,
    stated.torch_version as framework_version,
    'ai-performance-engineering ' || manifest.git_commit || if(manifest.is_git_dirty, '-dirty', '') as runtime_version,
    stated.image as server_version,
    common.operating_system,
    common.kernel_version
from aisp_run as run
left join aisp_manifest as manifest
    on manifest.artifact_manifest_digest = run.artifact_manifest_digest
left join common
    on
        common.run_id = run.run_id
        and common.artifact_manifest_digest = run.artifact_manifest_digest
left join stated
    on
        stated.run_id = run.run_id
        and stated.artifact_manifest_digest = run.artifact_manifest_digest
