/*
description: >
  One row per timed step of a training step benchmark.
grain: [run_id, artifact_manifest_digest, position]
feeds: step
*/
select
    run_id,
    artifact_manifest_digest,
    step_index as position,
    'train' as phase,
    'step' as covers,
    step_index::double as logged_step,
    if(step_time_s > 0, step_time_s, null) as step_time_s
from aisp_train_step
