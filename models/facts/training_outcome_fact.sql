/*
description: >
  One row per run, phase and scale point of a training benchmark. Time to train, rates, reliability and scaling belong
  to the train phase. What was not measured is NULL.
materialized: incremental
key: [run_id]
grain: [run_id, phase, node_count, accelerator_count]
collects: training_outcome
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  phase: {type: varchar, description: "init, train or eval", tests: [not_null, {accepted_values: [init, train, eval]}]}
  node_count: {type: bigint, description: "Nodes of the scale point"}
  accelerator_count: {type: bigint, description: "Accelerators of the scale point"}
  duration_s: {type: double, unit: s, description: "Time in the phase"}
  time_to_train_s: {type: double, unit: s, description: "From run start to the target quality"}
  step_count: {type: bigint, description: "Steps measured"}
  step_time_mean_s: {type: double, unit: s, description: "Step time, mean"}
  step_time_p50_s: {type: double, unit: s, description: "Step time, p50"}
  step_time_p95_s: {type: double, unit: s, description: "Step time, p95"}
  step_time_p99_s: {type: double, unit: s, description: "Step time, p99"}
  samples_per_s: {type: double, unit: samples/s, description: "Samples per second"}
  tokens_per_s: {type: double, unit: tokens/s, description: "Tokens per second"}
  mfu_pct: {type: double, unit: "%", description: "Model FLOP utilisation", tests: [{range: {min: 0, max: 100}, severity: warn}]}
  scaling_efficiency_pct: {type: double, unit: "%", description: "Throughput per accelerator relative to the smallest scale point"}
  reliability_pct: {type: double, unit: "%", description: "Runs succeeded of runs started in the repeat set", tests: [{range: {min: 0, max: 100}}]}
  quality: {type: double, description: "The quality metric reached"}
  quality_target: {type: double, description: "The quality metric asked for"}
*/
select outcome.*
from feed.training_outcome as outcome
inner join run_bundle
    on
        run_bundle.run_id = outcome.run_id
        and run_bundle.artifact_manifest_digest = outcome.artifact_manifest_digest
