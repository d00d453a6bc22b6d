/*
description: The host's CPUs run at a lower clock than in the baseline, and are as busy
playbook: [low_gpu_utilization, slow_host]
evidence: CPU clocks and host samples of wh record, and a run to compare with
order: 6
part: input
*/
with level as (
    select
        explained.role,
        explained.run_id,
        telemetry.subject,
        avg(telemetry.value_mean) filter (where telemetry.metric = 'cpu_clock_mean_mhz') as clock_mhz,
        avg(telemetry.value_mean) filter (where telemetry.metric = 'cpu_util_pct') as busy_pct,
        bool_and(telemetry.is_supported) as is_supported,
        min(telemetry.note) as note,
        min(telemetry.artifact_manifest_digest) as artifact_manifest_digest,
        min(telemetry.raw_path) filter (where telemetry.metric = 'cpu_clock_mean_mhz') as raw_path
    from run_telemetry as telemetry
    inner join explained using (run_id)
    where telemetry.metric in ('cpu_clock_mean_mhz', 'cpu_util_pct')
    group by
        explained.role,
        explained.run_id,
        telemetry.subject
),

usual as (
    select
        median(clock_mhz) as clock_mhz,
        median(busy_pct) as busy_pct
    from level
    where
        role = 'baseline'
        and is_supported
)

select
    'node ' || level.subject as subject,
    -- CPUs with less to do lower their clocks.
    if(level.is_supported and usual.clock_mhz is not null and level.busy_pct >= 0.9 * usual.busy_pct, level.clock_mhz < 0.9 * usual.clock_mhz, null) as is_found,
    usual.clock_mhz / nullif(level.clock_mhz, 0) as slowdown,
    printf('its CPUs ran at %.4g MHz in the mean', level.clock_mhz)
    || coalesce(printf(', in the baseline at %.4g MHz', usual.clock_mhz), '; the baseline has no such figure')
    || if(level.busy_pct < 0.9 * usual.busy_pct, '; they were less busy, and idle CPUs lower their clocks', '')
    || coalesce(level.note, '') as statement,
    level.clock_mhz as observed,
    usual.clock_mhz as expected,
    'MHz' as unit,
    level.artifact_manifest_digest,
    level.raw_path
from level
cross join usual
where
    level.role = 'run'
    and level.clock_mhz is not null
