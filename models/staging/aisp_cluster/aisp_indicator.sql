/*
description: >
  One row per value of a test of a cluster run that no other fact holds, under the suite's own key with its unit at the end: parameters and
  results of tests, results of nvbandwidth, the GPUs of a served model, and the clocks of the GPUs, as far as all of them have the same.
  Names of machines, paths and times are left out.
grain: [run_id, artifact_manifest_digest, kind, key]
feeds: performance_indicator
*/
with telemetry as (
    select
        run_id,
        artifact_manifest_digest,
        coalesce('concurrency_' || concurrency::varchar, 'point_' || point_index::varchar) || coalesce('__rate_' || request_rate_per_s::varchar, '')
            || '__' || name as key,
        value_number
    from aisp_serving_point
    unpivot (value_number for name in (
        gpu_util_mean_pct, gpu_util_p95_pct, gpu_memory_used_mean_mib, gpu_memory_used_max_mib, gpu_power_mean_w, gpu_power_p95_w
    ))
),

clock as (
    select
        run_id,
        artifact_manifest_digest,
        if(min(application_sm_mhz) = max(application_sm_mhz), min(application_sm_mhz), null) as clock__application_sm_mhz,
        if(min(application_memory_mhz) = max(application_memory_mhz), min(application_memory_mhz), null) as clock__application_memory_mhz,
        min(current_sm_mhz) as clock__current_sm_min_mhz,
        max(current_sm_mhz) as clock__current_sm_max_mhz,
        bool_and(is_locked)::integer::double as clock__is_locked
    from aisp_clock
    where run_id is not null
    group by
        run_id,
        artifact_manifest_digest
),

reading as (
    select
        run_id,
        artifact_manifest_digest,
        name as key,
        value_number
    from clock
    unpivot (value_number for name in (
        clock__application_sm_mhz, clock__application_memory_mhz, clock__current_sm_min_mhz, clock__current_sm_max_mhz, clock__is_locked
    ))
),

valued as (
    select
        entry.run_id,
        entry.artifact_manifest_digest,
        entry.kind,
        entry.metric as key,
        entry.value_type,
        entry.value as value_text,
        entry.value_number
    from aisp_entry as entry
    inner join aisp_run as run
        on
            run.run_id = entry.run_id
            and run.artifact_manifest_digest = entry.artifact_manifest_digest
    where
        (run.kind = 'indicator' and (entry.kind <> 'other' or entry.value_type in ('number', 'boolean', 'array')))
        or (run.kind = 'indicator' and entry.value_type = 'string' and not regexp_matches(entry.value, '[/:]'))
        or (run.kind = 'nvbandwidth' and entry.kind = 'result')
    union all
    select
        run_id,
        artifact_manifest_digest,
        'result' as kind,
        key,
        'number' as value_type,
        value_number::varchar as value_text,
        value_number
    from telemetry
    union all
    select
        run_id,
        artifact_manifest_digest,
        'other' as kind,
        key,
        'number' as value_type,
        value_number::varchar as value_text,
        value_number
    from reading
)

select
    valued.run_id,
    valued.artifact_manifest_digest,
    run.test as indicator,
    'aisp_cluster' as component,
    valued.kind,
    valued.key,
    valued.value_type,
    valued.value_text,
    valued.value_number
from valued
inner join aisp_run as run
    on
        run.run_id = valued.run_id
        and run.artifact_manifest_digest = valued.artifact_manifest_digest
