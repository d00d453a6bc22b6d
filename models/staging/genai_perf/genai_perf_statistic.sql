/*
description: >
  One row per statistic of a run's summary, converted by the unit beside it: times to ms, rates to 1/s. A statistic
  whose unit is missing or not known has no row. AIPerf 0.1 nests its statistics in `records`.
grain: [run_id, artifact_manifest_digest, metric, statistic]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  metric: {type: varchar, description: "The metric as the tool names it", tests: [not_null]}
  statistic: {type: varchar, description: "avg, p99 and so on", tests: [not_null]}
  quantity: {type: varchar, description: "The kind of quantity that the unit measures", tests: [not_null]}
  value: {type: double, description: "The value in ms, per second, or a count"}
*/
with stated as (
    select
        run_id,
        artifact_manifest_digest,
        regexp_extract(key, '^(?:records/)?([^/]+)/([^/]+)$', 1) as metric,
        regexp_extract(key, '^(?:records/)?([^/]+)/([^/]+)$', 2) as statistic,
        value,
        value_number
    from genai_perf_entry
    where regexp_matches(key, '^(?:records/)?[^/]+/[^/]+$')
),

unit as (
    select
        run_id,
        artifact_manifest_digest,
        metric,
        max(value) as unit
    from stated
    where statistic = 'unit'
    group by
        run_id,
        artifact_manifest_digest,
        metric
)

select
    stated.run_id,
    stated.artifact_manifest_digest,
    stated.metric,
    stated.statistic,
    max(known.quantity) as quantity,
    max(stated.value_number * known.factor) as value
from stated
inner join unit
    on
        unit.run_id = stated.run_id
        and unit.artifact_manifest_digest = stated.artifact_manifest_digest
        and unit.metric = stated.metric
inner join serving_unit as known
    on known.unit = unit.unit
where stated.value_number is not null
group by
    stated.run_id,
    stated.artifact_manifest_digest,
    stated.metric,
    stated.statistic
