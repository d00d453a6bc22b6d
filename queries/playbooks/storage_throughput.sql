/*
description: Reading from storage is slow, or the run reads from disks what others do not
playbook: [low_gpu_utilization, slow_host]
evidence: "node exporter's node_disk_io_time_seconds_total, node_disk_read_bytes_total and node_pressure_io_waiting_seconds_total, or node and process samples of wh record"
order: 3
part: input
*/
with slice as (
    select
        explained.role,
        explained.run_id,
        telemetry.*
    from run_telemetry as telemetry
    inner join explained using (run_id)
    where telemetry.rate_per_s is not null
),

-- What the run's own processes read past the page cache, and the share of the time that this took at most: in which disks worked on reads,
-- and in which the kernel copied what was read.
own as (
    select
        role,
        run_id,
        sum(rate_per_s) filter (where metric = 'process_read_bytes') as bytes_per_s,
        case
            when bool_or(metric in ('disk_read_s', 'process_system_cpu_s'))
                then least(
                    1,
                    coalesce(max(rate_per_s) filter (where metric = 'disk_read_s'), 0)
                    + coalesce(sum(rate_per_s) filter (where metric = 'process_system_cpu_s'), 0)
                )
        end as share,
        bool_and(is_supported) filter (where metric = 'process_read_bytes') as is_supported,
        min(note) filter (where metric = 'process_read_bytes') as note,
        min(artifact_manifest_digest) filter (where metric = 'process_read_bytes') as artifact_manifest_digest,
        min(raw_path) filter (where metric = 'process_read_bytes') as raw_path
    from slice
    group by
        role,
        run_id
),

measured as (
    select
        role,
        run_id,
        metric,
        if(scope = 'disk', 'disk ', 'node ') || subject as place,
        -- Two Prometheus servers that scrape one node report the same twice.
        max(rate_per_s) as rate,
        if(metric = 'disk_read_bytes', null, max(rate_per_s)) as share,
        bool_and(is_supported) as is_supported,
        min(note) as note,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(raw_path, artifact_manifest_digest || raw_path) as raw_path
    from slice
    where metric in ('disk_busy_s', 'io_pressure_s', 'disk_read_bytes')
    group by
        role,
        run_id,
        metric,
        place
    union all
    select
        role,
        run_id,
        'process_read_bytes' as metric,
        'processes of the run' as place,
        bytes_per_s as rate,
        share,
        is_supported,
        note,
        artifact_manifest_digest,
        raw_path
    from own
    where bytes_per_s is not null
),

usual as (
    select
        metric,
        median(rate) as rate,
        median(share) as share
    from (
        select
            metric,
            run_id,
            max(rate) as rate,
            max(share) as share
        from measured
        where
            role = 'baseline'
            and is_supported
        group by
            metric,
            run_id
    ) as of_run
    group by metric
)

select
    measured.place as subject,
    case
        when not measured.is_supported then null
        when measured.metric = 'process_read_bytes' then measured.share >= 0.1 and measured.rate >= 10e6 and measured.rate > 2 * usual.rate
        when measured.metric = 'io_pressure_s' then measured.rate >= 0.1 and coalesce(measured.rate > 1.5 * usual.rate, true)
        when measured.metric = 'disk_busy_s' then measured.rate >= 0.8 and coalesce(measured.rate > 1.2 * usual.rate, true)
        -- A slower run reads less, so that fewer bytes are no sign of a slow disk.
        when measured.rate >= 0.9 * usual.rate then false
    end as is_found,
    -- If the run did nothing else in that time, and nothing of it before.
    case when measured.share is not null then 1 / (1 - least(0.99, greatest(0, measured.share - coalesce(usual.share, 0)))) end as slowdown,
    case measured.metric
        when 'io_pressure_s' then printf('tasks waited for input and output for %.3g %% of the time', 100 * measured.rate)
        when 'disk_busy_s' then printf('it was busy for %.3g %% of the time', 100 * measured.rate)
        when 'process_read_bytes' then
            printf('they read %.4g MB/s from disks', measured.rate / 1e6)
            || coalesce(printf(', which took at most %.3g %% of the time', 100 * measured.share), '')
        else printf('it read %.4g MB/s', measured.rate / 1e6)
    end
    || coalesce(
        printf(
            ', in the baseline %.4g %s', if(measured.metric like '%\_bytes' escape '\', usual.rate / 1e6, 100 * usual.rate),
            if(measured.metric like '%\_bytes' escape '\', 'MB/s', '%')
        ), '; the baseline has no such figure'
    )
    || if(measured.metric = 'disk_read_bytes' and measured.rate < 0.9 * usual.rate, ': a slower run reads less, so this alone shows nothing', '')
    || coalesce(measured.note, '') as statement,
    if(measured.metric like '%\_bytes' escape '\', measured.rate, 100 * measured.rate) as observed,
    if(measured.metric like '%\_bytes' escape '\', usual.rate, 100 * usual.rate) as expected,
    if(measured.metric like '%\_bytes' escape '\', 'bytes/s', '%') as unit,
    measured.artifact_manifest_digest,
    measured.raw_path
from measured
left join usual
    on usual.metric = measured.metric
where measured.role = 'run'
