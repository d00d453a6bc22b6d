/*
description: >
  One row per trace with a date and figure of the whole trace. Of two traces of a rank that begin together, one is read.
grain: [run_id, artifact_manifest_digest, scope_name, metric, window_start]
feeds: telemetry_slice
*/
with trace as (
    select
        win.run_id,
        win.artifact_manifest_digest,
        win.rank,
        win.started_at,
        min(win.raw_path) as raw_path,
        arg_min(win.window_s, win.raw_path) as window_s,
        arg_min(win.compute_s, win.raw_path) as compute_s,
        arg_min(win.communication_s, win.raw_path) as communication_s,
        arg_min(win.overlap_s, win.raw_path) as overlap_s,
        arg_min(win.idle_s, win.raw_path) as idle_s,
        arg_min(win.memcpy_s, win.raw_path) as memcpy_s,
        arg_min(win.dataloader_s, win.raw_path) as dataloader_s,
        arg_min(trace.node_name, win.raw_path) as node_name
    from kineto_window as win
    inner join kineto_trace as trace
        on
            trace.artifact_manifest_digest = win.artifact_manifest_digest
            and trace.raw_path = win.raw_path
    where
        win.step is null
        and win.started_at is not null
    group by
        win.run_id,
        win.artifact_manifest_digest,
        win.rank,
        win.started_at
)

select
    run_id,
    artifact_manifest_digest,
    raw_path,
    'run' as window_kind,
    started_at as window_start,
    started_at + to_microseconds(try_cast(round(window_s * 1e6) as bigint)) as window_end,
    'rank' as scope,
    rank::varchar as scope_name,
    node_name,
    rank as rank_id,
    'rank_' || figure as metric,
    's' as unit,
    value as value_mean
from trace
unpivot (value for figure in (compute_s, communication_s, overlap_s, idle_s, memcpy_s, dataloader_s))
