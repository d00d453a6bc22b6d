/*
description: >
  One row per run, GPU or link, and kind of error that its exporter counts: ECC, remapped rows, NVLink CRC, replay and recovery,
  PCIe replay. Counts are increases between samples of the run. An error between two samples with the run's start or end between
  them is an error at the edge. A counter that was not exported has no row.
materialized: view
grain: [run_id, artifact_manifest_digest, series_number]
columns:
  scope: {type: varchar, description: "gpu, link or nic"}
  metric: {type: varchar, description: "The kind of error"}
  error_count: {type: double, description: "Errors between samples of the run"}
  edge_count: {type: double, description: "Errors between two samples with the run's start or end between them"}
*/
select
    run_id,
    artifact_manifest_digest,
    series_number,
    raw_path,
    node_name,
    gpu_uuid,
    scope,
    scope_name,
    metric,
    value_delta as error_count,
    value_edge_delta as edge_count,
    counter_reset_count,
    is_supported,
    is_ambiguous
from telemetry_slice_fact
where
    kind = 'counter'
    and window_kind = 'run'
    and regexp_matches(metric, '^(gpu_ecc_|gpu_remapped_rows_|gpu_retired_pages_|nvlink_.*_error_count$|pcie_replay_count$|nic_.*(error|drop|down|recovery)_count$)')
