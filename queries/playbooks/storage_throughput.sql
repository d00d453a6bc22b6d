/*
description: Reading from storage is slow
playbook: low_gpu_utilization
evidence: node exporter's node_disk_io_time_seconds_total, node_disk_read_bytes_total and node_pressure_io_waiting_seconds_total
order: 3
*/
with measured as (
    select
        explained.role,
        explained.run_id,
        slice.metric,
        if(slice.scope = 'disk', 'disk ', 'node ') || slice.subject as place,
        -- Two Prometheus servers that scrape one node report the same twice.
        max(slice.rate_per_s) as rate,
        bool_and(slice.is_supported) as is_supported,
        min(slice.note) as note,
        min(slice.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(slice.raw_path, slice.artifact_manifest_digest || slice.raw_path) as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where
        slice.metric in ('disk_busy_s', 'io_pressure_s', 'disk_read_bytes')
        and slice.rate_per_s is not null
    group by
        explained.role,
        explained.run_id,
        slice.metric,
        place
),

usual as (
    select
        metric,
        median(rate) as rate
    from (
        select
            metric,
            run_id,
            max(rate) as rate
        from measured
        where
            role = 'baseline'
            and is_supported
        group by
            metric,
            run_id
    ) as of_run
    group by metric
),

lost as (
    select max(1 - observed / expected) as share
    from changed
    where
        better = 'higher'
        and metric like '%\_per\_s' escape '\'
        and expected > 0
)

select
    measured.place as subject,
    case
        when not measured.is_supported then null
        when measured.metric = 'io_pressure_s' then measured.rate >= 0.1 and coalesce(measured.rate > 1.5 * usual.rate, true)
        when measured.metric = 'disk_busy_s' then measured.rate >= 0.8 and coalesce(measured.rate > 1.2 * usual.rate, true)
        -- A slower run reads less, so that fewer bytes are no sign of a slow disk.
        when measured.rate >= 0.9 * usual.rate then false
    end as is_found,
    if(
        measured.metric = 'disk_read_bytes', 0,
        greatest(0, least(1, (measured.rate - coalesce(usual.rate, 0)) / coalesce(if(lost.share > 0, lost.share, null), 1)))
    ) as score,
    case measured.metric
        when 'io_pressure_s' then printf('tasks waited for input and output for %.3g %% of the time', 100 * measured.rate)
        when 'disk_busy_s' then printf('it was busy for %.3g %% of the time', 100 * measured.rate)
        else printf('it read %.4g MB/s', measured.rate / 1e6)
    end
    || coalesce(
        printf(
            ', in the baseline %.4g %s', if(measured.metric = 'disk_read_bytes', usual.rate / 1e6, 100 * usual.rate),
            if(measured.metric = 'disk_read_bytes', 'MB/s', '%')
        ), '; the baseline has no such figure'
    )
    || if(measured.metric = 'disk_read_bytes' and measured.rate < 0.9 * usual.rate, ': a slower run reads less, so this alone shows nothing', '')
    || coalesce(measured.note, '') as statement,
    if(measured.metric = 'disk_read_bytes', measured.rate, 100 * measured.rate) as observed,
    if(measured.metric = 'disk_read_bytes', usual.rate, 100 * usual.rate) as expected,
    if(measured.metric = 'disk_read_bytes', 'bytes/s', '%') as unit,
    measured.artifact_manifest_digest,
    measured.raw_path
from measured
left join usual
    on usual.metric = measured.metric
cross join lost
where measured.role = 'run'
