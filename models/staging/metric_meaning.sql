/*
description: >
  One row per metric that a run has (measured_value): its unit and better direction, by metric_definition_dim and by the ending of its name
  (metric_suffix).
grain: [metric]
columns:
  metric: {type: varchar, description: "Column of a fact, or key of an indicator's result", tests: [not_null]}
  metric_version: {type: varchar, description: "The definitions of metric_definition_dim that apply, with their versions; NULL: none"}
  defined_unit: {type: varchar, description: "Unit by these definitions; NULL: they state none"}
  defined_better: {type: varchar, description: "Better direction by these definitions; NULL: they state none, or several"}
  suffix_unit: {type: varchar, description: "Unit by the longest ending that matches; NULL: none does"}
  suffix_better: {type: varchar, description: "Better direction by that ending"}
*/
with defined as (
    select
        pattern,
        max(version) as version,
        arg_max(unit, version) as unit,
        arg_max(better, version) as better
    from (
        select
            unnest(string_split(metric, ', ')) as pattern,
            version,
            unit,
            better
        from metric_definition_dim
    )
    group by pattern
),

named as (
    select distinct metric
    from measured_value
),

definition as (
    select
        named.metric,
        string_agg(defined.pattern || ' v' || defined.version, ', ' order by defined.pattern) as metric_version,
        min(defined.unit) as unit,
        case when count(distinct defined.better) = 1 then min(defined.better) end as better
    from named
    inner join defined
        on named.metric glob defined.pattern
    group by named.metric
),

suffixed as (
    select
        named.metric,
        arg_max(suffix.unit, length(suffix.suffix)) as unit,
        arg_max(suffix.better, length(suffix.suffix)) as better
    from named
    inner join metric_suffix as suffix
        on
            named.metric = suffix.suffix
            or (suffix.suffix[1] = '_' and ends_with('_' || named.metric, suffix.suffix))
    group by named.metric
)

select
    named.metric,
    definition.metric_version,
    definition.unit as defined_unit,
    definition.better as defined_better,
    suffixed.unit as suffix_unit,
    suffixed.better as suffix_better
from named
left join definition
    on definition.metric = named.metric
left join suffixed
    on suffixed.metric = named.metric
