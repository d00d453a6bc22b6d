/*
description: >
  One row per run, GPU and reason for which its clocks were held back: seconds by the exporter's counters, and their share of the
  time between the samples. A GPU can be held back for several reasons at once, so the rows do not add up. A reason that was not
  exported has no row.
materialized: view
grain: [run_id, artifact_manifest_digest, series_number]
columns:
  scope_name: {type: varchar, description: "The GPU, or its instance, as its labels name it"}
  reason: {type: varchar, description: "Why: power_cap, hardware_thermal, software_thermal, power_brake, sync_boost, or a violation by its older name (power, thermal, reliability)"}
  throttled_s: {type: double, unit: s, description: "Time held back, between samples of the run"}
  edge_s: {type: double, unit: s, description: "Time held back between two samples with the run's start or end between them"}
  share_pct: {type: double, unit: "%", description: "throttled_s of the time between the samples of the run"}
*/
select
    run_id,
    artifact_manifest_digest,
    series_number,
    raw_path,
    node_name,
    gpu_uuid,
    scope_name,
    regexp_extract(metric, '^gpu_throttle_(.*)_s$', 1) as reason,
    value_delta as throttled_s,
    value_edge_delta as edge_s,
    100 * value_delta / nullif(counted_s, 0) as share_pct,
    is_supported,
    is_ambiguous
from telemetry_slice_fact
where
    metric like 'gpu\_throttle\_%\_s' escape '\'
    and kind = 'counter'
    and window_kind = 'run'
