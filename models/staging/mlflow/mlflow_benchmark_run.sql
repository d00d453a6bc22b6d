/*
description: >
  One row per run of MLflow, and per report of perf.py that is no artifact of a run. Its times are stated in UTC
  milliseconds; those of a report alone are the first and last sample. A run that MLflow has deleted is still evidence.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
with sampled as (
    select
        run_id,
        artifact_manifest_digest,
        min(sampled_at) as first_at,
        max(sampled_at) as last_at
    from perf_report_sample
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    case
        when tag.is_lightgbm_benchmark then 'lightgbm-benchmark/' || tag.task || '/' || tag.framework
        when run.run_id like 'perf-report/%' then 'perf-report'
        else 'mlflow/' || coalesce(run.experiment_name, run.experiment_id, 'unstated')
    end as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    case when run.run_id like 'perf-report/%' then run.raw_path else '' end as raw_folder,
    'mlflow' as family,
    'performance' as mode,
    run.status,
    run.status_reason,
    coalesce(run.started_at, sampled.first_at) as started_at,
    coalesce(run.ended_at, case when run.started_at is null then sampled.last_at end) as ended_at,
    false as is_zone_assumed,
    case when run.ended_at >= run.started_at then epoch(run.ended_at - run.started_at) end as duration_s
from mlflow_run as run
left join mlflow_tag as tag
    on
        tag.run_id = run.run_id
        and tag.artifact_manifest_digest = run.artifact_manifest_digest
left join sampled
    on
        sampled.run_id = run.run_id
        and sampled.artifact_manifest_digest = run.artifact_manifest_digest
