/*
description: >
  One row per recorded run and package of the Python that ran its command.
grain: [run_id, artifact_manifest_digest, component, version]
feeds: software_component
*/
with package as (
    select
        run_id,
        artifact_manifest_digest,
        unnest(from_json(packages, '["VARCHAR"]')) as stated_as
    from recorded_run
)

select
    run_id,
    artifact_manifest_digest,
    lower(split_part(stated_as, '==', 1)) as component,
    nullif(split_part(stated_as, '==', 2), '') as version,
    min(stated_as) as stated_as
from package
where split_part(stated_as, '==', 1) <> ''
group by
    run_id,
    artifact_manifest_digest,
    component,
    version
