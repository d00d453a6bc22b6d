/*
description: One row per run and channel of the power meter over the measured window.
grain: [run_id, artifact_manifest_digest, scope_name]
feeds: telemetry_slice
*/
select
    run_id,
    artifact_manifest_digest,
    case when channel is null then 'node' else 'channel' end as scope,
    channel as scope_name,
    window_start,
    window_end,
    sample_count,
    'run' as window_kind,
    'power_w' as metric,
    'W' as unit,
    power_w as value_mean
from mlperf_inference_power
