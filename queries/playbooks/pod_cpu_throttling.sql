/*
description: A pod's CPU limit stops it in many scheduling periods
playbook: tail_latency_regression
evidence: cAdvisor's container_cpu_cfs_throttled_periods_total and container_cpu_cfs_periods_total, or container_cpu_cfs_throttled_seconds_total, in Prometheus' formats
order: 2
*/
with counted as (
    select
        explained.role,
        explained.run_id,
        slice.subject as pod,
        coalesce(slice.is_neighbour, false) as is_neighbour,
        max(slice.value_delta) filter (where slice.metric = 'pod_cpu_throttled_period_count') as throttled_periods,
        max(slice.value_delta) filter (where slice.metric = 'pod_cpu_period_count') as periods,
        max(slice.rate_per_s) filter (where slice.metric = 'pod_cpu_throttled_s') as throttled_per_s,
        bool_and(slice.is_supported) as is_supported,
        min(slice.note) as note,
        min(slice.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(slice.raw_path, slice.artifact_manifest_digest || slice.raw_path) as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where slice.metric in ('pod_cpu_throttled_period_count', 'pod_cpu_period_count', 'pod_cpu_throttled_s')
    group by
        explained.role,
        explained.run_id,
        pod,
        coalesce(slice.is_neighbour, false),
        coalesce(slice.labels ->> '$.container', '')
),

throttled as (
    select
        *,
        unnest([
            {measured: 'periods', share: throttled_periods / nullif(periods, 0)},
            {measured: 'time', share: if(periods > 0 and throttled_periods is not null, null, throttled_per_s)}
        ], recursive := true)
    from counted
),

usual as (
    select
        measured,
        median(share) as share
    from (
        select
            measured,
            run_id,
            max(share) as share
        from throttled
        where
            role = 'baseline'
            and is_supported
            and not is_neighbour
        group by
            measured,
            run_id
    ) as of_run
    group by measured
),

worst as (
    select
        pod,
        measured,
        bool_and(is_neighbour) as is_neighbour,
        max(share) as share,
        bool_and(is_supported) as is_supported,
        min(note) as note,
        arg_max(artifact_manifest_digest, share) as artifact_manifest_digest,
        arg_max(raw_path, share) as raw_path
    from throttled
    where
        role = 'run'
        and share is not null
    group by
        pod,
        measured
)

select
    'pod ' || worst.pod as subject,
    worst.is_neighbour,
    if(worst.is_supported, worst.share >= if(worst.measured = 'time', 0.05, 0.1) and coalesce(worst.share > 1.5 * usual.share, true), null) as is_found,
    -- A request of a tenth of a second or more meets a throttled period almost surely if one in four is.
    least(1, (worst.share - coalesce(usual.share, 0)) / 0.25) as score,
    if(
        worst.measured = 'time', printf('its CPU was throttled for %.3g s of each second', worst.share),
        printf('its CPU was throttled in %.3g %% of the scheduling periods', 100 * worst.share)
    )
    || coalesce(
        if(
            worst.measured = 'time', printf(', in the baseline %.3g s', usual.share),
            printf(', in the baseline in %.3g %%', 100 * usual.share)
        ), '; the baseline has no such figure'
    )
    || coalesce(worst.note, '') as statement,
    100 * worst.share as observed,
    100 * usual.share as expected,
    '%' as unit,
    worst.artifact_manifest_digest,
    worst.raw_path
from worst
left join usual
    on usual.measured = worst.measured
