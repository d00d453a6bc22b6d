/*
description: >
  One row per trace of a rank, and per step in it. A trace lasts from the first activity on a GPU to the last one, or,
  where it has none, from the first event to the last.
grain: [run_id, artifact_manifest_digest, raw_path, step]
feeds: rank_step
*/
select
    win.run_id,
    win.artifact_manifest_digest,
    win.raw_path,
    win.rank,
    win.step,
    trace.node_name,
    win.started_at,
    win.window_s as step_time_s,
    win.compute_s,
    win.communication_s,
    win.overlap_s,
    win.idle_s,
    win.memcpy_s,
    win.dataloader_s,
    win.kernel_count
from kineto_window as win
inner join kineto_trace as trace
    on
        trace.artifact_manifest_digest = win.artifact_manifest_digest
        and trace.raw_path = win.raw_path
