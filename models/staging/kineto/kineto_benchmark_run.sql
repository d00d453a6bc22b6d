/*
description: >
  One row per job with traces: from the first event of any rank to the last one. A trace that breaks off does not show
  how its job ended.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run_id,
    'kineto/' || any_value(job) as benchmark_case_id,
    any_value(workload_spec_digest) as workload_spec_digest,
    artifact_manifest_digest,
    '' as raw_folder,
    'kineto' as family,
    'performance' as mode,
    'exploratory' as intent,
    if(bool_and(is_whole), 'succeeded', 'unknown') as status,
    if(bool_and(is_whole), null, 'a trace is incomplete') as status_reason,
    min(started_at) as started_at,
    max(ended_at) as ended_at,
    if(count(distinct node_name) = 1 and count(node_name) = count(*), min(node_name), null) as node_name
from kineto_trace
group by
    run_id,
    artifact_manifest_digest
