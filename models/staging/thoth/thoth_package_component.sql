/*
description: >
  One row per run, stack or document of Thoth and package that it states. The packages of a solver's document were solved
  one by one, those of an image lie in it together. An index is part of what is stated, because it has builds of its own.
grain: [run_id, artifact_manifest_digest, component, version, stated_as]
feeds: software_component
*/
with stated as (
    select distinct
        stated_by,
        artifact_manifest_digest,
        lower(name) as component,
        version,
        concat_ws(' ', name || coalesce('==' || version, ''), 'from ' || index_url) as stated_as
    from thoth_package
    where name <> ''
)

select
    run.run_id,
    stated.artifact_manifest_digest,
    stated.component,
    stated.version,
    stated.stated_as
from stated
inner join thoth_run as run
    on
        run.inspection_id = stated.stated_by
        and run.artifact_manifest_digest = stated.artifact_manifest_digest
union all by name
select
    stated_by as run_id,
    artifact_manifest_digest,
    component,
    version,
    stated_as
from stated
where stated_by like 'thoth/%'
