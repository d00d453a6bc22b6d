/*
description: One row per run whose start and end are known.
grain: [run_id, artifact_manifest_digest]
feeds: run_window
*/
select
    run_id,
    artifact_manifest_digest,
    'run' as window_kind,
    started_at as window_start,
    coalesce(ended_at, started_at + to_microseconds(try_cast(round(duration_s * 1e6) as bigint))) as window_end,
    is_zone_assumed
from stated_run
where
    started_at is not null
    and coalesce(ended_at, started_at + to_microseconds(try_cast(round(duration_s * 1e6) as bigint))) is not null
