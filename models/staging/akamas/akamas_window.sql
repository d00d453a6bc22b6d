/*
description: One row per trial with a window in which the study aggregated its metrics.
grain: [run_id, artifact_manifest_digest]
feeds: run_window
*/
select
    run_id,
    artifact_manifest_digest,
    'phase' as window_kind,
    'measured' as window_name,
    window_start,
    window_end,
    true as is_zone_assumed
from akamas_trial
where
    window_start is not null
    and window_end is not null
