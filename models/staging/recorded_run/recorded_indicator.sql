/*
description: >
  One row per key of a recorded run's indicator JSON. JSON that names no indicator has no row here, but one in
  ingest_issue.
grain: [run_id, artifact_manifest_digest, kind, key]
feeds: performance_indicator
*/
select
    value.run_id,
    value.artifact_manifest_digest,
    value.indicator_name as indicator,
    value.component,
    run.script_sha256,
    value.kind,
    value.key,
    value.value_type,
    value.value_text,
    value.value_number
from recorded_indicator_value as value
inner join recorded_run as run
    on
        run.run_id = value.run_id
        and run.artifact_manifest_digest = value.artifact_manifest_digest
where value.indicator_name is not null
