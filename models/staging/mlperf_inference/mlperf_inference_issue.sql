/*
description: >
  One row per result that the logs call VALID and that has no performance, unless an error of its run is known already.
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
    'the log is VALID, and no result of ' || result.scenario || ' can be taken from it by the rules of the round' as message,
    cast(null as bigint) as line_number,
    result.run_id
from mlperf_inference_result as result
inner join run_bundle
    on run_bundle.run_id = result.run_id
inner join mlperf_inference_run as run
    on
        run.run_id = run_bundle.run_id
        and run.artifact_manifest_digest = run_bundle.artifact_manifest_digest
left join evidence_issue as known
    on
        known.run_id = result.run_id
        and known.artifact_manifest_digest = run.artifact_manifest_digest
        and known.severity = 'error'
where
    result.status = 'succeeded'
    and result.performance is null
    and known.run_id is null
