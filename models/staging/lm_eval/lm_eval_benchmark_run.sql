/*
description: >
  One row per file of results of lm-evaluation-harness, in the columns of benchmark_run_fact. The duration is that of
  the harness, with the loading of a model that it runs itself.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run_id,
    'lm-eval/' || coalesce(model, 'unstated model') as benchmark_case_id,
    workload_spec_digest,
    artifact_manifest_digest,
    raw_path as raw_folder,
    'lm_eval' as family,
    'accuracy' as mode,
    case when is_measured then 'succeeded' else 'unknown' end as status,
    started_at,
    case when started_at is not null then false end as is_zone_assumed,
    duration_s
from lm_eval_run
