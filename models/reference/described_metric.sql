/*
description: >
  One row per canonical metric, for described formats: a description states metrics over time by their canonical names,
  and the unit of each.
grain: [source, source_metric]
feeds: telemetry_metric
*/
select
    'described' as source,
    metric as source_metric,
    metric,
    min(unit) as unit,
    null::varchar as source_unit,
    min(kind) as kind,
    min(scope) as scope
from known_telemetry_metric
where kind <> 'histogram'
group by metric
