/*
description: One row per bundle of telemetry, run that its series belong to, and window of the run.
grain: [artifact_manifest_digest, run_id, window_kind, window_name, window_start]
*/
select
    joined.artifact_manifest_digest,
    win.run_id,
    win.window_kind,
    win.window_name,
    win.window_start,
    win.window_end
from (
    select distinct
        run_id,
        artifact_manifest_digest
    from telemetry_run_series
) as joined
inner join run_window as win
    on win.run_id = joined.run_id
