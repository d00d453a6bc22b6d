/*
description: >
  One row per software bundle and component in it, with the component's version. The version is NULL if the evidence
  names the component without one. A component that the evidence does not name has no row.
grain: [software_version_key, component, version]
columns:
  software_version_key: {type: varchar, description: "Key in software_version_dim", tests: [not_null, {relationships: main.software_version_dim.software_version_key}]}
  component: {tests: [not_null]}
  stated_as: {type: varchar, description: "The evidence's own words for component and version", tests: [not_null]}
*/
select
    run_software.software_version_key,
    component.component,
    component.version,
    min(component.stated_as) as stated_as
from run_software_component as component
inner join run_software
    on
        run_software.run_id = component.run_id
        and run_software.artifact_manifest_digest = component.artifact_manifest_digest
where run_software.software_version_key is not null
group by
    run_software.software_version_key,
    component.component,
    component.version
