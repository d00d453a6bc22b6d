/*
description: One row per trial, with the study and its goal.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document
from akamas_trial
