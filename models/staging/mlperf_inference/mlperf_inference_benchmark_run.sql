/*
description: >
  One row per run folder: performance runs, and the accuracy, compliance and ranging runs that back them.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run.run_id,
    'mlperf-' || run.benchmark_suite || '/' || run.benchmark || '/' || run.scenario || '/' || run.mode as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    regexp_replace(run.raw_path, '[^/]+$', '') as raw_folder,
    'mlperf_inference' as family,
    run.mode,
    run.supports_run_id,
    case when run.division = 'closed' then 'publication' end as intent,
    run.round as cadence,
    case
        when log.refusal = 'loadgen-errors' then 'invalid'
        when metric.validity = 'VALID' then 'succeeded'
        when metric.validity = 'INVALID' then 'invalid'
        else 'unknown'
    end as status,
    case when log.refusal = 'loadgen-errors' then log.refusal else metric.validity end as status_reason,
    try_cast(regexp_extract(run.run_name, '^run_([0-9]+)$', 1) as bigint) as repeat_index,
    try_cast(metric.test_datetime as timestamptz) as started_at,
    case when try_cast(metric.test_datetime as timestamptz) is not null then false end as is_zone_assumed
from mlperf_inference_run as run
inner join mlperf_inference_log_source as log
    on
        log.run_id = run.run_id
        and log.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_inference_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
