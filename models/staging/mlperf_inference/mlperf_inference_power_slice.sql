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
    (epoch_us(window_end) - epoch_us(window_start)) / 1e6 as duration_s,
    sample_count,
    power_w
from mlperf_inference_power
