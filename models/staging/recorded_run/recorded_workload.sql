/*
description: >
  One row per recorded run that states a workload.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    coalesce(indicator_name, program) as model,
    'command' as protocol
from recorded_run
where workload_spec_digest is not null
