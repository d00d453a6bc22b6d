/*
description: >
  One row per run, GPU or link, and kind of error that its exporter counts: ECC, remapped rows, NVLink CRC, replay and recovery,
  PCIe replay. Counts are increases between samples of the run. An error between two samples with the run's start or end between
  them is an error at the edge. A counter that was not exported has no row.
materialized: view
grain: [run_id, artifact_manifest_digest, series_number]
columns:
  artifact_manifest_digest: {type: varchar, description: "The bundle of the samples"}
  series_number: {type: bigint, description: "The series in its bundle"}
  raw_path: {type: varchar, description: "The file that first states the series"}
  node_name: {type: varchar, description: "The node"}
  gpu_uuid: {type: varchar, description: "The GPU"}
  scope: {type: varchar, description: "gpu, link or nic"}
  scope_name: {type: varchar, description: "Which one"}
  metric: {type: varchar, description: "The kind of error"}
  error_count: {type: double, description: "Errors between samples of the run"}
  edge_count: {type: double, description: "Errors between two samples with the run's start or end between them"}
  counter_reset_count: {type: bigint, description: "How often the counter began anew"}
  is_supported: {type: boolean, description: "Whether the samples cover the run as the policy asks"}
  is_ambiguous: {type: boolean, description: "Whether another run or job was at the same place at the same time"}
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
