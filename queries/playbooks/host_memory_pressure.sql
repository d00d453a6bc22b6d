/*
description: Memory is short on the host or in the run's limit, so that pages are read again or swapped
playbook: [low_gpu_utilization, slow_host]
evidence: node exporter's node_pressure_memory_waiting_seconds_total, or node and cgroup samples of wh record
order: 0
part: input
*/
with rate as (
    select
        explained.role,
        explained.run_id,
        telemetry.subject,
        telemetry.scope,
        telemetry.metric,
        telemetry.rate_per_s as value,
        telemetry.value_delta,
        telemetry.is_supported,
        telemetry.note,
        telemetry.artifact_manifest_digest,
        telemetry.raw_path
    from run_telemetry as telemetry
    inner join explained using (run_id)
    where
        telemetry.metric in (
            'memory_pressure_s', 'cgroup_memory_limit_hit_count', 'cgroup_refaulted_page_count', 'swapped_in_page_count', 'out_of_memory_kill_count',
            'cgroup_out_of_memory_kill_count', 'disk_read_s', 'io_pressure_s', 'process_system_cpu_s'
        )
        and telemetry.rate_per_s is not null
),

-- Share of the time that reading pages again and freeing others took at most.
reading as (
    select
        role,
        run_id,
        case
            when bool_or(metric in ('disk_read_s', 'process_system_cpu_s', 'io_pressure_s', 'memory_pressure_s'))
                then greatest(
                    least(
                        1,
                        coalesce(max(value) filter (where metric = 'disk_read_s'), 0)
                        + coalesce(sum(value) filter (where metric = 'process_system_cpu_s'), 0)
                    ),
                    coalesce(max(value) filter (where metric = 'io_pressure_s'), 0), coalesce(max(value) filter (where metric = 'memory_pressure_s'), 0)
                )
        end as share
    from rate
    group by
        role,
        run_id
),

usual_reading as (
    select median(share) as share
    from reading
    where role = 'baseline'
),

-- What a figure must reach: the share of time as of other pressure, and rates at which pages cost time. A kill is one too many.
known as (
    select *
    from (
        values
        ('memory_pressure_s', 0.1, 1.5, 'tasks waited for memory for %.3g s of each second'),
        ('cgroup_memory_limit_hit_count', 100, 2, 'its memory limit was hit %.4g times a second'),
        ('cgroup_refaulted_page_count', 1000, 2, '%.4g pages a second were read again that had been evicted'),
        ('swapped_in_page_count', 1000, 2, '%.4g pages a second were swapped in'),
        ('out_of_memory_kill_count', 0, 1, 'processes were killed for want of memory, %.3g a second'),
        ('cgroup_out_of_memory_kill_count', 0, 1, 'processes were killed for want of memory, %.3g a second')
    ) as rule (metric, least_value, least_growth, words)
),

usual as (
    select
        metric,
        median(value) as value
    from rate
    where
        role = 'baseline'
        and is_supported
    group by metric
)

select
    'node ' || own.subject as subject,
    if(
        own.is_supported,
        own.value > known.least_value and coalesce(own.value > known.least_growth * usual.value, true), null
    ) as is_found,
    case
        when own.metric not like '%kill_count' and reading.share is not null
            then (1 - least(0.99, coalesce(usual_reading.share, 0))) / (1 - least(0.99, reading.share))
    end as slowdown,
    if(own.metric like '%kill_count', 0.9, null) as score,
    printf(known.words, own.value)
    || coalesce(printf(', in the baseline %.3g', usual.value), '; the baseline has no such figure')
    || coalesce(own.note, '') as statement,
    own.value as observed,
    usual.value as expected,
    if(own.metric = 'memory_pressure_s', 's/s', '1/s') as unit,
    own.artifact_manifest_digest,
    own.raw_path
from rate as own
inner join known
    on known.metric = own.metric
left join usual
    on usual.metric = own.metric
left join reading
    on reading.run_id = own.run_id
cross join usual_reading
where own.role = 'run'
