/*
description: >
  One row per trial of a study that a tuner ran: its score, and whether it is of the configuration that the tuner compares
  with.
grain: [run_id, artifact_manifest_digest]
*/
select
    run_id,
    artifact_manifest_digest,
    study_id,
    study_name,
    experiment,
    trial,
    state,
    score,
    is_baseline,
    workload_document ->> '$.objective' as objective,
    workload_document ->> '$.goal' as goal
from akamas_trial
