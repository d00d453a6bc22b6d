/*
description: >
  One row per run of MLflow: the tags that lightgbm-benchmark sets, and MLflow's own. is_lightgbm_benchmark is true for a
  run with the tags of its task and framework.
grain: [run_id, artifact_manifest_digest]
*/
select
    run_id,
    artifact_manifest_digest,
    max(value) filter (where key = 'task') as task,
    max(value) filter (where key = 'framework') as framework,
    max(value) filter (where key = 'framework_version') as framework_version,
    max(value) filter (where key = 'benchmark_name') as benchmark_name,
    max(value) filter (where key = 'processor') as processor,
    max(value) filter (where key = 'platform') as platform,
    max(value) filter (where key = 'system') as system,
    max(value) filter (where key = 'system_memory') as system_memory,
    max(try_cast(value as bigint)) filter (where key = 'cpu_count' and try_cast(value as bigint) > 0) as cpu_count,
    max(value) filter (where key = 'mlflow.source.git.commit') as source_commit,
    coalesce(bool_or(key = 'task') and bool_or(key = 'framework'), false) as is_lightgbm_benchmark
from mlflow_entry
where kind = 'tag'
group by
    run_id,
    artifact_manifest_digest
