/*
description: >
  One row per step, block of steps or phase in a training run's log, in the order of the log: the detail behind
  training_outcome_fact. A value that was not logged, or whose unit is not known, is NULL.
materialized: incremental
key: [run_id]
grain: [run_id, position]
collects: step
retention_tier: warm
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  position: {type: bigint, description: "Where in the run's evidence, ascending, e.g. the line", tests: [not_null]}
  phase: {type: varchar, description: "init, train or eval", tests: [not_null, {accepted_values: [init, train, eval]}]}
  covers: {type: varchar, description: "What the times and rates cover: one step, the mean over a block of steps, or a phase", tests: [{accepted_values: [step, block, phase]}]}
  logged_at: {type: timestamptz, unit: UTC, description: "When it was logged"}
  logged_step: {type: double, description: "The step as logged; some producers count samples or epochs here"}
  samples_count: {type: double, description: "Samples as logged"}
  epoch_num: {type: double, description: "Epochs as logged"}
  duration_s: {type: double, unit: s, description: "Time of an evaluation or a warm-up", tests: [{range: {min: 0}, severity: warn}]}
  step_time_s: {type: double, unit: s, description: "Time of one step", tests: [{range: {min: 0}, severity: warn}]}
  samples_per_s: {type: double, unit: samples/s, description: "Samples per second of all accelerators", tests: [{range: {min: 0}, severity: warn}]}
  loss: {type: double, description: "Training loss"}
  learning_rate: {type: double, description: "Learning rate"}
*/
select step.*
from feed.step as step
inner join run_bundle
    on
        run_bundle.run_id = step.run_id
        and run_bundle.artifact_manifest_digest = step.artifact_manifest_digest
