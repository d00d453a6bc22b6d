/*
description: >
  One row per run, window and series of a gauge, a state or a counter, in canonical units. A counter has increases; a
  gauge has statistics of its values; a state has its extremes and its last value.
grain: [run_id, artifact_manifest_digest, series_number, window_kind, window_name, window_start]
feeds: telemetry_slice
*/
select
    win.run_id,
    win.artifact_manifest_digest,
    win.series_number,
    place.raw_path,
    win.window_kind,
    win.window_name,
    win.window_start,
    win.window_end,
    place.scope,
    place.scope_name,
    place.node_name,
    place.gpu_uuid,
    place.rank_id,
    place.labels,
    place.metric,
    place.unit,
    place.kind,
    place.source_metric,
    win.sample_count,
    if(place.kind = 'counter', null, win.value_min * place.factor) as value_min,
    if(place.kind = 'counter', null, win.value_max * place.factor) as value_max,
    if(place.kind = 'gauge', win.value_mean * place.factor, null) as value_mean,
    if(place.kind = 'gauge', win.value_sample_mean * place.factor, null) as value_sample_mean,
    if(place.kind = 'gauge', win.value_p50 * place.factor, null) as value_p50,
    if(place.kind = 'gauge', win.value_p95 * place.factor, null) as value_p95,
    win.value_last * place.factor as value_last,
    if(place.kind = 'counter', win.value_delta * place.factor, null) as value_delta,
    if(place.kind = 'counter', win.value_edge_delta * place.factor, null) as value_edge_delta,
    if(place.kind = 'counter', win.counted_s, null) as counted_s,
    if(place.kind = 'gauge', win.value_integral * place.factor, null) as value_integral,
    if(place.kind = 'counter', win.counter_reset_count, null) as counter_reset_count,
    place.sampling_interval_s,
    win.largest_gap_s,
    100 * win.covered_s / (epoch(win.window_end) - epoch(win.window_start)) as coverage_pct,
    joined.join_method,
    joined.join_confidence,
    joined.is_ambiguous,
    joined.clock
from telemetry_window as win
inner join telemetry_place as place
    on
        place.artifact_manifest_digest = win.artifact_manifest_digest
        and place.series_number = win.series_number
        and place.kind <> 'histogram'
inner join telemetry_run_series as joined
    on
        joined.run_id = win.run_id
        and joined.artifact_manifest_digest = win.artifact_manifest_digest
        and joined.series_number = win.series_number
