/*
description: >
  One row per key that a result's script printed, per environment variable that the inspection set and its request of CPUs, which are
  parameters, and per condition that Amun recorded with it: hwinfo__*, the request of memory, and usage__ru_* where benchmark_run_fact has no column for it. Conditions of a result that names no indicator are of the indicator amun.
grain: [run_id, artifact_manifest_digest, kind, key]
feeds: performance_indicator
*/
select
    value.run_id,
    value.artifact_manifest_digest,
    coalesce(value.indicator_name, 'amun') as indicator,
    value.component,
    run.script_sha256,
    value.kind,
    value.key,
    value.value_type,
    value.value_text,
    value.value_number
from thoth_indicator_entry as value
inner join thoth_run as run
    on
        run.run_id = value.run_id
        and run.artifact_manifest_digest = value.artifact_manifest_digest
where
    value.kind <> 'other'
    or value.key not in (
        'usage__ru_utime', 'usage__ru_stime', 'usage__ru_maxrss', 'usage__ru_minflt', 'usage__ru_majflt', 'usage__ru_nvcsw', 'usage__ru_nivcsw'
    )
union all by name
select
    run.run_id,
    run.artifact_manifest_digest,
    coalesce(run.indicator_name, 'amun') as indicator,
    run.component,
    run.script_sha256,
    if(requested.key = 'run__requests__cpu', 'parameter', 'other') as kind,
    requested.key,
    'string' as value_type,
    requested.value_text,
    null as value_number
from thoth_run as run
inner join (
    select
        artifact_manifest_digest,
        key,
        value_text
    from (
        select
            artifact_manifest_digest,
            run_cpu as run__requests__cpu,
            run_memory as run__requests__memory
        from thoth_inspection
    ) as asked
    unpivot (value_text for key in (run__requests__cpu, run__requests__memory))
) as requested
    on requested.artifact_manifest_digest = run.artifact_manifest_digest
where run.result_number is not null
