/*
description: >
  One row per run, bundle and software component that its evidence names, with its version where one is stated.
grain: [run_id, artifact_manifest_digest, component, version]
collects: software_component
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  component: {type: varchar, description: "The component, lower case: pytorch, cuda, nccl", tests: [not_null]}
  version: {type: varchar, description: "Its version as written; NULL: none is stated"}
  stated_as: {type: varchar, description: "The evidence's own words for component and version", tests: [not_null]}
*/
select
    run_id,
    artifact_manifest_digest,
    component,
    version,
    min(stated_as) as stated_as
from feed.software_component
group by
    run_id,
    artifact_manifest_digest,
    component,
    version
