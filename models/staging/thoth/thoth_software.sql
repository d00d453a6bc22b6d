/*
description: >
  One row per result, with the image that Amun built for its inspection, and one per stack or document that states
  packages. The base of an inspection is a tag; the digest is that of the pushed image. Two stacks with the same
  packages have the same packages_digest.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
with versions as (
    select
        stated_by,
        artifact_manifest_digest,
        name,
        min(version) as version
    from thoth_package
    group by
        stated_by,
        artifact_manifest_digest,
        name
)

select
    run.run_id,
    run.artifact_manifest_digest,
    build.image_digest,
    run.cuda_version,
    lower(run.component) as framework,
    versions.version as framework_version,
    'python ' || run.python_version as runtime_version,
    nullif(concat_ws(' ', run.os_name, run.os_version), '') as operating_system,
    run.kernel_version,
    inspection.base_image as software_stack,
    inspection.packages_digest
from thoth_run as run
left join thoth_inspection as inspection
    on inspection.artifact_manifest_digest = run.artifact_manifest_digest
left join thoth_build as build
    on build.artifact_manifest_digest = run.artifact_manifest_digest
left join versions
    on
        versions.stated_by = run.inspection_id
        and versions.artifact_manifest_digest = run.artifact_manifest_digest
        and versions.name = lower(run.component)
union all by name
select
    stack_key as run_id,
    artifact_manifest_digest,
    cuda_version,
    'python ' || python_version as runtime_version,
    nullif(concat_ws(' ', os_name, os_version), '') as operating_system,
    packages_digest
from thoth_stack
where packages_digest is not null
union all by name
select
    document_key as run_id,
    artifact_manifest_digest,
    kind || ' ' || coalesce(document_id, document_key) as software_stack
from thoth_document
where kind in ('solver', 'package_extract')
