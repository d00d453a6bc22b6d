/*
description: >
  One row per run that trains: the worst figures of its scale points in the train phase; most runs have one scale point. Only performance
  runs that count have rows, and no run that was filed twice.
materialized: view
role: hot_metrics
grain: [run_id]
columns:
  step_time_p50_s: {type: double, unit: s, description: "Time of a training step, p50; the longest of the scale points of the run"}
  step_time_p95_s: {type: double, unit: s, description: "Time of a training step, p95; the longest of the scale points of the run"}
  step_time_p99_s: {type: double, unit: s, description: "Time of a training step, p99; the longest of the scale points of the run"}
  time_to_train_s: {type: double, unit: s, description: "From the start of the run to the target quality; the longest of the scale points of the run"}
  samples_per_s: {type: double, unit: samples/s, description: "Samples per second; the lowest of the scale points of the run"}
  tokens_per_s: {type: double, unit: tokens/s, description: "Tokens per second; the lowest of the scale points of the run"}
  mfu_pct: {type: double, unit: "%", description: "Model FLOP utilisation; the lowest of the scale points of the run"}
*/
select
    run_label.*,
    max(outcome.step_time_p50_s) as step_time_p50_s,
    max(outcome.step_time_p95_s) as step_time_p95_s,
    max(outcome.step_time_p99_s) as step_time_p99_s,
    max(outcome.time_to_train_s) as time_to_train_s,
    min(outcome.samples_per_s) as samples_per_s,
    min(outcome.tokens_per_s) as tokens_per_s,
    min(outcome.mfu_pct) as mfu_pct
from training_outcome_fact as outcome
inner join run_replicate
    on run_replicate.run_id = outcome.run_id
inner join run_label
    on run_label.run_id = outcome.run_id
where
    outcome.phase = 'train'
    and run_replicate.copy_of is null
group by all
