/*
description: One row per bill of materials and component in it.
grain: [run_id, artifact_manifest_digest, component, version, stated_as]
feeds: software_component
*/
select distinct
    document_key as run_id,
    artifact_manifest_digest,
    component,
    version,
    coalesce(purl, concat_ws('==', component, version)) as stated_as
from sbom_component
