/*
description: >
  One row per log of nvidia-smi: when it was written, by the machine's local time, taken as UTC, and the driver.
grain: [artifact_manifest_digest, raw_path, log_index]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  log_index: {type: bigint, description: "Which log of the file, from 0", tests: [not_null]}
  written_at: {type: timestamptz, unit: UTC, description: "When"}
  driver: {type: varchar, description: "Driver"}
  cuda_version: {type: varchar, description: "Newest CUDA that it supports"}
  gpu_count: {type: bigint, description: "GPUs in the log", tests: [not_null]}
  gpu_product: {type: varchar, description: "Their products, with commas"}
  raw_offset: {type: bigint, unit: bytes, description: "Where in the file", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long", tests: [not_null]}
*/
select
    artifact_manifest_digest,
    raw_path,
    log_index,
    timezone('UTC', max(try_strptime(value, '%a %b %d %H:%M:%S %Y')) filter (where key = 'timestamp' and gpu_index is null)) as written_at,
    max(value) filter (where key = 'driver_version' and gpu_index is null) as driver,
    max(value) filter (where key = 'cuda_version' and gpu_index is null) as cuda_version,
    count(distinct gpu_index) as gpu_count,
    string_agg(distinct case when key = 'product_name' then value end, ',' order by case when key = 'product_name' then value end) as gpu_product,
    min(raw_offset) as raw_offset,
    max(raw_offset + raw_length) - min(raw_offset) as raw_length
from nvidia_smi_entry
group by
    artifact_manifest_digest,
    raw_path,
    log_index
