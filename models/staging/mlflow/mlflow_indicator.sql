/*
description: >
  One row per parameter, tag and metric of a run of MLflow. Of a metric's history it is the last value, by step and time,
  as MLflow has it. The 18 metrics of perf.py, whose step is a node, are node_RANK__NAME of kind other: most of them are no
  results of the run (queries/node_performance.sql computes those).
grain: [run_id, artifact_manifest_digest, kind, key]
feeds: performance_indicator
*/
with last_metric as (
    select
        metric.*,
        known.metric is not null as is_of_node
    from mlflow_metric as metric
    left join node_metric as known
        on known.metric = metric.key
    qualify row_number() over (
        partition by metric.run_id, metric.artifact_manifest_digest, metric.key, case when known.metric is not null then coalesce(metric.step, 0) end
        order by metric.step desc nulls last, metric.logged_at desc nulls last, metric.value desc nulls last, metric.line_number desc
    ) = 1
),

stated as (
    select
        run_id,
        artifact_manifest_digest,
        if(kind = 'param', 'parameter', 'other') as kind,
        key,
        'string' as value_type,
        value as value_text,
        case when kind = 'param' and isfinite(try_cast(value as double)) then try_cast(value as double) end as value_number
    from mlflow_entry
    where kind = 'param' or not regexp_matches(key, '^mlflow[.]|^node_[0-9]+__')
    union all by name
    select
        run_id,
        artifact_manifest_digest,
        if(is_of_node, 'other', 'result') as kind,
        if(is_of_node, concat('node_', coalesce(step, 0), '__', key), key) as key,
        'number' as value_type,
        value_text,
        value as value_number
    from last_metric
)

select
    stated.run_id,
    stated.artifact_manifest_digest,
    if(tag.is_lightgbm_benchmark, 'lightgbm-benchmark', 'mlflow') as indicator,
    tag.framework as component,
    stated.kind,
    stated.key,
    stated.value_type,
    stated.value_text,
    stated.value_number
from stated
left join mlflow_tag as tag
    on
        tag.run_id = stated.run_id
        and tag.artifact_manifest_digest = stated.artifact_manifest_digest
