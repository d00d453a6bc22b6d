/*
description: The run's own processes compute while its work waits, as when they prepare the input themselves
playbook: [low_gpu_utilization, slow_host]
evidence: CPU time of the run's processes (wh record), and a run to compare with
order: 8
part: input
*/
-- What the run's processes used, as the system accounts for them once they have ended.
with process as (
    select
        role,
        run_id,
        (user_cpu_s + system_cpu_s) / nullif(duration_s, 0) as cores,
        system_cpu_s / nullif(duration_s, 0) as kernel_cores,
        user_cpu_s / nullif(duration_s, 0) as user_cores,
        artifact_manifest_digest,
        raw_folder as raw_path
    from explained
    where user_cpu_s is not null
),

reading as (
    select
        run_id,
        coalesce(sum(rate_per_s) filter (where metric = 'process_read_bytes'), 0) as bytes_per_s,
        coalesce(max(rate_per_s) filter (where metric = 'disk_read_s'), 0) as disk_share
    from run_telemetry
    where metric in ('process_read_bytes', 'disk_read_s')
    group by run_id
),

gpu as (
    select
        slice.run_id,
        coalesce(avg(slice.value_mean) filter (where slice.metric = 'gpu_sm_active_pct'), avg(slice.value_mean)) as busy_pct,
        count(distinct coalesce(slice.gpu_uuid, slice.subject)) as gpus
    from run_telemetry as slice
    where
        slice.metric in ('gpu_sm_active_pct', 'gpu_util_pct')
        and slice.is_supported
        and not slice.is_idle_neighbour
        and slice.is_neighbour is distinct from true
    group by slice.run_id
),

measured as (
    select
        process.*,
        process.cores / coalesce(gpu.gpus, 1) as cores_per_gpu,
        -- The share of the time that reading from disks took at most: in which they worked on reads, and the kernel copied what was read.
        if(reading.bytes_per_s >= 1e6, least(1, reading.disk_share + process.kernel_cores), 0) as reading,
        gpu.busy_pct
    from process
    left join gpu
        on gpu.run_id = process.run_id
    left join reading
        on reading.run_id = process.run_id
),

usual as (
    select
        median(cores_per_gpu) as cores_per_gpu,
        median(user_cores) as user_cores,
        median(busy_pct) as busy_pct
    from measured
    where role = 'baseline'
),

-- How much longer a unit of work takes.
worst as (
    select coalesce(max(if(better = 'lower', observed / expected, expected / observed)), 1) as worse_by
    from changed
    where
        better in ('lower', 'higher')
        and not regexp_matches(metric, 'p9[0-9]|max')
        and observed > 0
        and expected > 0
)

select
    'processes of the run' as subject,
    case
        when measured.busy_pct is not null and usual.busy_pct is not null
            then measured.busy_pct < 0.7 * usual.busy_pct and measured.cores_per_gpu - measured.reading >= 0.5
        -- Without a GPU only that they compute more shows it. They do the same work, so that the time for it is longer by what they compute more.
        when measured.busy_pct is null and usual.busy_pct is null and usual.cores_per_gpu is not null
            then measured.user_cores * worst.worse_by >= 1.5 * usual.user_cores and measured.user_cores * worst.worse_by - usual.user_cores >= 0.1
    end as is_found,
    -- At most the time in which they computed and did not read; where that is all of the time, all that the GPUs waited more.
    case
        when measured.busy_pct is not null and usual.busy_pct is not null
            then least(
                usual.busy_pct / nullif(measured.busy_pct, 0),
                1 / (1 - least(0.99, greatest(0, least(1, measured.cores_per_gpu) - measured.reading)))
            )
        else 1 + greatest(0, measured.user_cores * worst.worse_by - usual.user_cores)
    end as slowdown,
    printf(
        'they used %.3g CPU cores%s', measured.cores_per_gpu,
        coalesce(printf(' a GPU, and the GPUs were busy for %.3g %% of the time', measured.busy_pct), '')
    )
    || coalesce(
        printf('; in the baseline %.3g cores%s', usual.cores_per_gpu, coalesce(printf(' and %.3g %%', usual.busy_pct), '')),
        '; without a run to compare with, this alone shows nothing: a process that waits for its GPU may keep a core busy'
    ) as statement,
    measured.cores_per_gpu as observed,
    usual.cores_per_gpu as expected,
    'cores' as unit,
    measured.artifact_manifest_digest,
    measured.raw_path
from measured
cross join usual
cross join worst
where measured.role = 'run'
