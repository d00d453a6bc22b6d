/*
description: One row per profile of Nsight Compute or Nsight Systems, with its name and the program.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document
from nsight_profile
