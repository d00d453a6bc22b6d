/*
description: >
  One row per metric over time of a described format. A description states its canonical name and unit; what has a GPU
  among its labels is about that GPU, and the rest about a node.
grain: [source, source_metric]
feeds: telemetry_metric
*/
select
    source,
    metric as source_metric,
    metric,
    min(unit) as unit,
    case min(unit) when '°C' then 'c' else lower(min(unit)) end as source_unit,
    min(metric_type) as kind,
    case when bool_or(contains(labels, '"gpu')) then 'gpu' else 'node' end as scope
from telemetry_series
where source = 'described'
group by
    source,
    metric
