/*
description: >
  One row: how telemetry of a run is cut into windows, and which windows support a statement. A run is cut into equal
  intervals of at least interval_s, at most max_intervals of them. Two samples that are further apart than max_gap_factor
  times the usual distance have a gap between them. A window with less coverage than min_coverage_pct is not supported.
  A project with a model of the same name replaces this one.
grain: []
columns:
  interval_s: {type: double, unit: s, description: "Shortest interval of a run", tests: [not_null]}
  max_intervals: {type: bigint, description: "Most intervals of a run", tests: [not_null]}
  max_gap_factor: {type: double, description: "Largest distance of two samples without a gap, as a multiple of the median distance in their series", tests: [not_null]}
  idle_below_pct: {type: double, unit: "%", description: "A GPU is idle in an interval in which its utilisation never exceeds this", tests: [not_null]}
  min_coverage_pct: {type: double, unit: "%", description: "Least share of a window that samples must cover", tests: [not_null]}
*/
select
    60::double as interval_s,
    60::bigint as max_intervals,
    2.5::double as max_gap_factor,
    5::double as idle_below_pct,
    80::double as min_coverage_pct
