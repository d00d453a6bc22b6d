/*
description: >
  One row per test of a cluster run, in the columns of benchmark_run_fact. Its times are those of the suite step that ran it, and are NULL
  where it is not certain which step did. A test failed if its document says so, or if it says nothing and the step failed.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run.run_id,
    'aisp_cluster/' || run.test as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    run.raw_path as raw_folder,
    if(run.is_row, run.raw_offset::varchar || '+' || run.raw_length::varchar, null) as raw_section,
    'aisp_cluster' as family,
    'performance' as mode,
    'validation' as intent,
    case
        when run.stated_status is not null then run.stated_status
        when step.exit_code = 0 then 'succeeded'
        when step.exit_code is not null then 'failed'
        else 'unknown'
    end as status,
    case
        when run.stated_status = 'failed' then run.stated_reason
        when run.stated_status is null and step.exit_code <> 0 then 'suite step ' || coalesce(step.name, '') || ': exit code ' || step.exit_code
    end as status_reason,
    run.repeat_index,
    step.started_at,
    step.ended_at,
    if(step.started_at is not null, false, null) as is_zone_assumed,
    step.exit_code,
    run.cluster_run_id as scheduler_run_id,
    run.node as node_name,
    nullif(regexp_extract(node.gpu_list, 'GPU ' || run.gpu::varchar || ': [^(\n]*\(UUID: ([^)\n]+)\)', 1), '') as gpu_uuid
from aisp_run as run
left join aisp_suite_step as step
    on
        step.artifact_manifest_digest = run.artifact_manifest_digest
        and step.step_index = run.step_index
left join aisp_node as node
    on
        node.artifact_manifest_digest = run.artifact_manifest_digest
        and node.node = run.node
