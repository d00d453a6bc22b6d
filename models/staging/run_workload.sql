/*
description: >
  One row per run and bundle that states a workload. The document is kept whole; the columns are read from it where the
  family states them.
grain: [run_id, artifact_manifest_digest]
collects: workload
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  workload_spec_digest: {type: varchar, description: "sha256 of the canonical frozen workload document", tests: [not_null]}
  workload_document: {type: varchar, description: "The document itself, canonical JSON", tests: [not_null]}
  model: {type: varchar, description: "The model or kernel under test"}
  precision: {type: varchar, description: "Weight data type as written"}
  protocol: {type: varchar, description: "How load is put on: a scenario or a wire protocol"}
  deployment_model: {type: varchar, description: "Parallelism and placement"}
  batching_policy: {type: varchar, description: "Batching policy"}
  concurrency_point: {type: bigint, description: "Requests in flight, where the workload fixes it"}
  prompt_distribution: {type: varchar, description: "Input lengths"}
  completion_distribution: {type: varchar, description: "Output lengths"}
*/
select *
from feed.workload
