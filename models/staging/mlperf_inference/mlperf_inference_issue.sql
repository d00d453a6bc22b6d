/*
description: >
  One row per run whose log is VALID but has no performance for its scenario, or for a required edge scenario that
  would be inferred from it, and one per run that shares a refused detail log. Runs that already have an error are
  left out.
grain: [run_id]
feeds: issue
*/
select
    run.artifact_manifest_digest,
    run.raw_path,
    0::bigint as raw_offset,
    0::bigint as raw_length,
    'error' as severity,
    'no-result' as code,
    case
        when any_value(log.refusal) is not null
            then 'no result is taken from the detail log of the same execution: see ' || any_value(log.refusal)
                || ' of ' || any_value(log.detail_run_id)
        else
            'the log is VALID, and no result of ' || string_agg(result.scenario, ' or ' order by result.scenario)
            || ' can be taken from it by the rules of the round'
    end as message,
    cast(null as bigint) as line_number,
    result.run_id
from mlperf_inference_result as result
inner join run_bundle
    on run_bundle.run_id = result.run_id
inner join mlperf_inference_run as run
    on
        run.run_id = run_bundle.run_id
        and run.artifact_manifest_digest = run_bundle.artifact_manifest_digest
inner join mlperf_inference_log_source as log
    on
        log.run_id = run.run_id
        and log.artifact_manifest_digest = run.artifact_manifest_digest
left join evidence_issue as known
    on
        known.run_id = result.run_id
        and known.artifact_manifest_digest = run.artifact_manifest_digest
        and known.severity = 'error'
where
    (result.status = 'succeeded' or log.refusal is not null)
    and result.performance is null
    and known.run_id is null
group by
    run.artifact_manifest_digest,
    run.raw_path,
    result.run_id
