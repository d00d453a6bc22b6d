/*
description: One row per stack of a campaign and package that its lock has.
grain: [run_id, artifact_manifest_digest, component, version, stated_as]
feeds: software_component
*/
select distinct
    'stack/' || stack.stack_digest as run_id,
    package.artifact_manifest_digest,
    lower(package.package) as component,
    package.version,
    concat_ws('==', package.package, package.version) as stated_as
from matrix_locked_package as package
inner join matrix_stack as stack
    on
        stack.campaign_id = package.campaign_id
        and stack.stack = package.stack
        and stack.artifact_manifest_digest = package.artifact_manifest_digest
where stack.stack_digest is not null
