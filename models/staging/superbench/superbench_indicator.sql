/*
description: >
  One row per metric of a node, under SuperBench's own name (benchmark/metric:rank). The unit of a metric is in
  SuperBench's documentation, not in its results.
grain: [run_id, artifact_manifest_digest, kind, key]
feeds: performance_indicator
*/
select
    run_id,
    artifact_manifest_digest,
    coalesce(benchmark, 'superbench') as indicator,
    'superbench' as component,
    case when regexp_full_match(key, '.*/return_code(:[0-9]+)?') then 'other' else 'result' end as kind,
    key,
    case when value_text is null then 'null' when value_number is null then 'string' else 'number' end as value_type,
    value_text,
    value_number
from superbench_metric
