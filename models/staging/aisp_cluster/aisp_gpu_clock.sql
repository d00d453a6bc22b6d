/*
description: >
  One row per statement of a GPU's clocks around a test: a lock under which a command ran, or a rank's own reading. The run is NULL where
  it is not certain which run a lock belongs to.
*/
select
    run_id,
    artifact_manifest_digest,
    cluster_run_id,
    node,
    gpu,
    rank_id,
    is_locked,
    is_lock_required,
    application_sm_mhz,
    application_memory_mhz,
    current_sm_mhz,
    current_memory_mhz,
    exit_code,
    started_at,
    ended_at
from aisp_clock
