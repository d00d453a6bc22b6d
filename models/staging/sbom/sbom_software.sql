/*
description: One row per bill of materials, as a set of packages without a run.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    document_key as run_id,
    artifact_manifest_digest,
    name as software_stack,
    packages_digest
from sbom_document
where packages_digest is not null
