/*
description: >
  One row per statistic of a report's latencies and throughputs, converted by the unit beside it: times to ms, rates
  to 1/s. A statistic whose unit is missing or not known has no row. For GuideLLM, request_latency is read in its true
  unit, which older converters state wrongly, and time_per_output_token is left out, because it includes the first
  token.
grain: [run_id, artifact_manifest_digest, metric, statistic]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  metric: {type: varchar, description: "The metric as the report names it", tests: [not_null]}
  statistic: {type: varchar, description: "mean, p99 and so on", tests: [not_null]}
  quantity: {type: varchar, description: "The kind of quantity that the unit measures", tests: [not_null]}
  value: {type: double, description: "The value in ms or per second"}
*/
with stated as (
    select
        run_id,
        artifact_manifest_digest,
        regexp_extract(key, '/(?:latency|throughput)/([^/]+)/([^/]+)$', 1) as metric,
        regexp_extract(key, '/(?:latency|throughput)/([^/]+)/([^/]+)$', 2) as statistic,
        value,
        value_number
    from llm_d_report_entry
    where regexp_matches(key, '^(metrics|results/request_performance/aggregate)/(latency|throughput)/[^/]+/[^/]+$')
),

unit as (
    select
        stated.run_id,
        stated.artifact_manifest_digest,
        stated.metric,
        case
            when stated.metric = 'request_latency' then max(run.request_latency_unit)
            when stated.metric != 'time_per_output_token' or coalesce(lower(max(run.load_tool)), '') != 'guidellm'
                then max(stated.value)
        end as unit
    from stated
    inner join llm_d_report_run as run
        on
            run.run_id = stated.run_id
            and run.artifact_manifest_digest = stated.artifact_manifest_digest
    where stated.statistic = 'units'
    group by
        stated.run_id,
        stated.artifact_manifest_digest,
        stated.metric
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
