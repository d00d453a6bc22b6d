/*
description: >
  One row per report of MLPerf Endpoints. It states no time of a clock. A phase of an audit is a compliance run.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run.run_id,
    'mlperf-endpoints/' || coalesce(configuration.model, 'unstated model') as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    run.raw_path as raw_folder,
    'mlperf_endpoints' as family,
    case when run.audit_phase is null then 'performance' else 'compliance' end as mode,
    case
        when metric.state = 'interrupted' then 'interrupted'
        when metric.is_complete is false then 'unknown'
        when metric.completed_count > 0 then 'succeeded'
        when metric.failed_count > 0 then 'failed'
        else 'unknown'
    end as status,
    case when metric.is_complete is false then 'complete: false, state: ' || coalesce(metric.state, 'not stated') end as status_reason,
    metric.duration_s
from mlperf_endpoints_run as run
left join mlperf_endpoints_configuration as configuration
    on
        configuration.run_id = run.run_id
        and configuration.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_endpoints_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
