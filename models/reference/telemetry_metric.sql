/*
description: >
  One row per metric of a source that the warehouse has a name for: its canonical name and unit, what kind of quantity it
  is, and what it is about. A project adds metrics with a staging model that has `feeds: telemetry_metric`.
grain: [source, source_metric]
collects: telemetry_metric
columns:
  source: {type: varchar, description: "Whose name it is, as telemetry_series.source", tests: [not_null]}
  source_metric: {type: varchar, description: "The source's name; of a histogram without _bucket, _sum and _count", tests: [not_null]}
  metric: {type: varchar, description: "Canonical name", tests: [not_null]}
  unit: {type: varchar, description: "Canonical unit, as in telemetry_unit; NULL: none", tests: [not_null]}
  source_unit: {type: varchar, description: "The unit in which the source documents it, lower case; it counts whatever a description says. NULL: it differs between versions, and only a unit that the evidence states counts"}
  kind: {type: varchar, description: "gauge: a value at a moment. counter: a sum since some start. histogram: counters by bucket. state: a code that stays until it changes", tests: [not_null, {accepted_values: [gauge, counter, histogram, state]}]}
  scope: {type: varchar, description: "What it is about", tests: [not_null, {accepted_values: [node, gpu, link, nic, disk, server, pod, process, queue, rank, channel]}]}
*/
select
    source,
    source_metric,
    metric,
    unit,
    source_unit,
    kind,
    scope
from feed.telemetry_metric
