/*
description: The memory of a GPU runs at a lower clock than in the baseline, so that its bandwidth is lower
playbook: slow_gpus
evidence: DCGM_FI_DEV_MEM_CLOCK of dcgm-exporter, or GPUs that wh record sampled, and a run to compare with
order: 8
part: clocks
*/
with clock as (
    select
        explained.role,
        telemetry.subject,
        telemetry.value_p50 as value,
        telemetry.is_supported,
        telemetry.note,
        telemetry.artifact_manifest_digest,
        telemetry.raw_path
    from run_telemetry as telemetry
    inner join explained using (run_id)
    where
        telemetry.metric = 'gpu_memory_clock_mhz'
        and telemetry.value_p50 is not null
),

usual as (
    select median(value) as value
    from clock
    where
        role = 'baseline'
        and is_supported
)

select
    'GPU ' || clock.subject as subject,
    if(clock.is_supported and usual.value is not null, clock.value < 0.95 * usual.value, null) as is_found,
    usual.value / nullif(clock.value, 0) as slowdown,
    printf('its memory ran at %.4g MHz in the median', clock.value)
    || coalesce(printf(', in the baseline at %.4g MHz', usual.value), '; the baseline has no such figure')
    || coalesce(clock.note, '') as statement,
    clock.value as observed,
    usual.value as expected,
    'MHz' as unit,
    clock.artifact_manifest_digest,
    clock.raw_path
from clock
cross join usual
where clock.role = 'run'
