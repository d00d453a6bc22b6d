/*
description: GPU clocks were held back, or were lower than in the baseline
playbook: [slow_gpus, tail_latency_regression, low_gpu_utilization]
evidence: dcgm-exporter's violations or clock event reasons (with their unit), or DCGM_FI_DEV_SM_CLOCK, in Prometheus' formats; or GPUs that wh record sampled
order: 7
part: clocks
*/
with held_back as (
    select
        explained.role,
        explained.run_id,
        slice.subject,
        regexp_extract(slice.metric, '^gpu_throttle_(.*)_s$', 1) as reason,
        100 * slice.rate_per_s as value,
        slice.is_supported,
        slice.note,
        slice.artifact_manifest_digest,
        slice.raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where
        slice.metric like 'gpu\_throttle\_%\_s' escape '\'
        and slice.metric <> 'gpu_throttle_low_utilisation_s'
        and slice.kind = 'counter'
    union all
    select
        explained.role,
        explained.run_id,
        slice.subject,
        null as reason,
        slice.value_p50 as value,
        slice.is_supported,
        slice.note,
        slice.artifact_manifest_digest,
        slice.raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where
        slice.metric = 'gpu_sm_clock_mhz'
        and slice.value_p50 is not null
),

usual as (
    select
        reason,
        median(value) as value
    from held_back
    where
        role = 'baseline'
        and is_supported
    group by reason
),

-- The clock decides how much was lost, whatever held it back.
clock as (
    select
        held_back.subject,
        usual.value / nullif(held_back.value, 0) as slowdown
    from held_back
    inner join usual
        on
            usual.reason is null
            and held_back.reason is null
    where held_back.role = 'run'
),

-- A driver that holds clocks at the power limit does so in runs without trouble, too. Then only how low they are tells runs apart.
reasons as (
    select
        subject,
        string_agg(printf('%s for %.3g %% of the time', replace(reason, '_', ' '), value), ', ' order by value desc, reason) as said
    from held_back
    where
        role = 'run'
        and reason is not null
        and value >= 5
    group by subject
)

select
    'GPU ' || held_back.subject as subject,
    case
        when not held_back.is_supported then null
        when held_back.reason is not null then held_back.value >= 5 and coalesce(held_back.value > 1.5 * usual.value, true)
        when usual.value is not null then held_back.value < 0.95 * usual.value
    end as is_found,
    clock.slowdown,
    -- Without a clock to compare, the time in which it was held back is all that is known.
    if(clock.slowdown is null, greatest(0, least(1, (held_back.value - coalesce(usual.value, 0)) / 100)), null) as score,
    if(
        held_back.reason is not null,
        printf('its clocks were held back for %.3g %% of the time (%s)', held_back.value, replace(held_back.reason, '_', ' ')),
        printf('its SM clock was %.4g MHz in the median', held_back.value)
    )
    || coalesce(
        printf(', in the baseline %.4g %s', usual.value, if(held_back.reason is not null, '%', 'MHz')), '; the baseline has no such figure'
    )
    || if(held_back.reason is null, coalesce('; held back: ' || reasons.said, ''), '')
    || coalesce(held_back.note, '') as statement,
    held_back.value as observed,
    usual.value as expected,
    if(held_back.reason is not null, '%', 'MHz') as unit,
    held_back.artifact_manifest_digest,
    held_back.raw_path
from held_back
left join usual
    on usual.reason is not distinct from held_back.reason
left join reasons
    on reasons.subject = held_back.subject
left join clock
    on clock.subject = held_back.subject
where
    held_back.role = 'run'
    and held_back.value is not null
