/*
description: >
  One row per run, window of time, scope (node, GPU, link, rank, server, ...) and metric: infrastructure and service
  metrics at reduced cardinality. A window is the whole run, an interval of it, or a phase, step or load point that the
  evidence states. Values are in the canonical unit of the metric. A counter has increases, which are aware of resets. What
  was not sampled has no row or is NULL. A window that its samples do not cover as the policy asks
  (reference.telemetry_policy) is not supported. What a client saw of its requests in a window, and what a server reports
  about itself, are separate rows.
materialized: incremental
key: [run_id]
grain: [run_id, artifact_manifest_digest, series_number, scope, scope_name, metric, window_kind, window_name, window_start]
collects: telemetry_slice
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle of the samples", tests: [not_null]}
  series_number: {type: bigint, description: "The series in telemetry_series; of a histogram the first of its series; NULL: the evidence states windows, not samples"}
  raw_path: {type: varchar, description: "The file in the bundle that first states the series; NULL: the evidence states windows"}
  window_kind: {type: varchar, description: "What the window is", tests: [not_null, {accepted_values: [run, phase, step, load_point, interval]}]}
  window_name: {type: varchar, description: "Which one; NULL for the whole run"}
  window_start: {type: timestamptz, unit: UTC, description: "Start of the window", tests: [not_null]}
  window_end: {type: timestamptz, unit: UTC, description: "End of the window"}
  duration_s: {type: double, unit: s, description: "Length of the window", feed: false}
  scope: {type: varchar, description: "What the value is about", tests: [not_null, {accepted_values: [node, channel, gpu, link, nic, disk, rank, pair, pod, process, queue, request, request_class, client, server]}]}
  scope_name: {type: varchar, description: "Which one, e.g. a host name or a channel; NULL if the run has only one"}
  node_name: {type: varchar, description: "The node, for a scope on one node"}
  gpu_uuid: {type: varchar, description: "The GPU, for a scope on one GPU"}
  rank_id: {type: bigint, description: "The rank, for a scope on one rank of a distributed job"}
  request_id: {type: varchar, description: "The request, for a scope on one request"}
  trace_id: {type: varchar, description: "The trace, for a scope on one request"}
  labels: {type: varchar, description: "All labels of the series, a JSON object"}
  metric: {type: varchar, description: "Canonical name (metric_definition_dim)", tests: [not_null]}
  unit: {type: varchar, description: "Unit of all values of the row; NULL: none"}
  kind: {type: varchar, description: "gauge, state, counter or histogram; NULL: the evidence states windows"}
  source_metric: {type: varchar, description: "The metric as its source names it"}
  sample_count: {type: bigint, description: "Samples in the window"}
  value_min: {type: double, description: "Least value"}
  value_max: {type: double, description: "Greatest value"}
  value_mean: {type: double, description: "Mean over the covered time; of a histogram over its observations; where the evidence states windows, the mean or total that it states"}
  value_sample_mean: {type: double, description: "Mean of the samples, each counted once"}
  value_p50: {type: double, description: "Median of the samples; of a histogram of its observations, interpolated in a bucket"}
  value_p95: {type: double, description: "95th percentile, likewise"}
  value_p99: {type: double, description: "99th percentile, where the evidence states it"}
  value_last: {type: double, description: "Last value"}
  value_delta: {type: double, description: "Increase of a counter between samples in the window; of a histogram the observations in it"}
  value_edge_delta: {type: double, description: "Increase between two samples with an edge of the window between them: in it or outside"}
  counted_s: {type: double, unit: s, description: "Time between the samples that value_delta is of: value_delta / counted_s is the rate"}
  value_integral: {type: double, description: "Integral over the covered time, unit times seconds: of power in W the energy in J"}
  counter_reset_count: {type: bigint, description: "How often the counter began anew in the window"}
  sampling_interval_s: {type: double, unit: s, description: "Median distance of the samples of the series"}
  largest_gap_s: {type: double, unit: s, description: "Longest time in the window without a sample"}
  coverage_pct: {type: double, unit: "%", description: "Share of the window between samples without a gap"}
  is_supported: {type: boolean, description: "Whether the samples cover the window as the policy asks; NULL: the evidence states windows", feed: false}
  join_method: {type: varchar, description: "How the series was joined to the run (staging.telemetry_run_series); NULL: it is in the run's own evidence"}
  join_confidence: {type: varchar, description: "stated, unique or place; NULL: it is in the run's own evidence"}
  is_ambiguous: {type: boolean, description: "Whether another run, or a job of the scheduler, was at the same place at the same time, so that the values may be its"}
  clock: {type: varchar, description: "What the join assumes of the clocks, if anything"}
*/
with admitted as (
    select slice.*
    from feed.telemetry_slice as slice
    inner join run_bundle
        on
            run_bundle.run_id = slice.run_id
            and (slice.join_method is not null or run_bundle.artifact_manifest_digest = slice.artifact_manifest_digest)
)

select
    admitted.*,
    (epoch_us(admitted.window_end) - epoch_us(admitted.window_start)) / 1e6 as duration_s,
    if(admitted.series_number is null, null, coalesce(admitted.coverage_pct >= policy.min_coverage_pct, false)) as is_supported
from admitted
cross join telemetry_policy as policy
