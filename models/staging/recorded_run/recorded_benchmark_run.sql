/*
description: >
  One row per recorded run, in the columns of benchmark_run_fact.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run.run_id,
    -- A repeat that failed printed no name: then its workload document has it.
    coalesce(
        run.component || '/' || run.indicator_name,
        run.indicator_name,
        json_extract_string(run.workload_document, '$.component') || '/' || json_extract_string(run.workload_document, '$.indicator_name'),
        json_extract_string(run.workload_document, '$.indicator_name'),
        run.program,
        'command'
    ) as benchmark_case_id,
    run.workload_spec_digest,
    run.artifact_manifest_digest,
    split_part(run.raw_path, '/', 1) || '/' as raw_folder,
    'recorded_run' as family,
    'performance' as mode,
    coalesce(run.status, 'unknown') as status,
    case
        when run.indicator_breach is not null then run.indicator_breach
        when run.failure is not null then run.failure
        when run.signal is not null then 'signal ' || run.signal::varchar
        when run.exit_code <> 0 then 'exit code ' || run.exit_code::varchar
    end as status_reason,
    run.repeat_index,
    run.missing_repeats,
    run.started_at,
    run.ended_at,
    false as is_zone_assumed,
    run.attempted_at,
    run.wall_s as duration_s,
    run.exit_code,
    run.user_cpu_s,
    run.system_cpu_s,
    run.max_rss_bytes,
    run.voluntary_context_switches,
    run.involuntary_context_switches,
    run.minor_page_faults,
    run.major_page_faults,
    case when run.launched_nodes is null then run.hostname end as node_name  -- a launcher may run beside the nodes
from recorded_run as run
