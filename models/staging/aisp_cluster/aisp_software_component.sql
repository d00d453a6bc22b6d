/*
description: >
  One row per test of a cluster run and version of the NCCL package that its nodes have installed.
grain: [run_id, artifact_manifest_digest, component, version]
feeds: software_component
*/
select
    member.run_id,
    member.artifact_manifest_digest,
    'libnccl2' as component,
    node.nccl_package_version as version,
    'libnccl2 ' || node.nccl_package_version as stated_as
from aisp_run_node as member
inner join aisp_node as node
    on
        node.artifact_manifest_digest = member.artifact_manifest_digest
        and node.node = member.node
where node.nccl_package_version is not null
group by
    member.run_id,
    member.artifact_manifest_digest,
    node.nccl_package_version
