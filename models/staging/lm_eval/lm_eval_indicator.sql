/*
description: >
  One row per metric and setting of a task, under the harness's own name (task/metric,filter). A metric's standard
  error is task/metric_stderr,filter.
grain: [run_id, artifact_manifest_digest, kind, key]
feeds: performance_indicator
*/
select
    run_id,
    artifact_manifest_digest,
    task as indicator,
    'lm_eval' as component,
    kind,
    key,
    value_type,
    value_text,
    value_number
from lm_eval_metric
