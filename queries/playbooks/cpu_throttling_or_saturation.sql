/*
description: The host's CPUs are saturated, or a CPU limit stops the run
playbook: [low_gpu_utilization, slow_host]
evidence: cAdvisor's container_cpu_cfs_* counters, node exporter's node_cpu_seconds_total and node_pressure_cpu_waiting_seconds_total, or host samples of wh record
order: 1
part: input
*/
with slice as (
    select
        explained.role,
        explained.run_id,
        telemetry.metric,
        telemetry.labels,
        telemetry.is_neighbour,
        telemetry.value_delta,
        telemetry.value_mean,
        telemetry.rate_per_s,
        telemetry.is_supported,
        telemetry.note,
        telemetry.artifact_manifest_digest,
        telemetry.raw_path,
        if(telemetry.scope = 'pod', 'pod ', 'node ') || telemetry.subject as subject
    from run_telemetry as telemetry
    inner join explained using (run_id)
    where
        telemetry.metric in (
            'pod_cpu_throttled_period_count', 'pod_cpu_period_count', 'cpu_mode_s', 'cpu_pressure_s', 'cpu_util_pct', 'process_runqueue_wait_s',
            'process_user_cpu_s', 'process_system_cpu_s', 'cgroup_cpu_throttled_period_count', 'cgroup_cpu_period_count'
        )
),

-- Time in which the run's own threads could have run and had no CPU, of the time in which they ran or could have.
own as (
    select
        role,
        run_id,
        sum(rate_per_s) filter (where metric = 'process_runqueue_wait_s') / nullif(sum(rate_per_s), 0) as share,
        bool_and(is_supported) as is_supported,
        min(note) as note,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        min(raw_path) as raw_path
    from slice
    where metric in ('process_runqueue_wait_s', 'process_user_cpu_s', 'process_system_cpu_s')
    group by
        role,
        run_id
),

measured as (
    select
        role,
        run_id,
        'threads of the run' as subject,
        'own' as kind,
        false as is_neighbour,
        share,
        is_supported,
        note,
        artifact_manifest_digest,
        raw_path
    from own
    union all
    select
        role,
        run_id,
        subject,
        'throttled' as kind,
        coalesce(bool_or(is_neighbour), false) as is_neighbour,
        sum(value_delta) filter (where metric like '%throttled_period_count') / nullif(sum(value_delta) filter (where metric not like '%throttled_period_count'), 0)
            as share,
        bool_and(is_supported) as is_supported,
        min(note) as note,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(raw_path, artifact_manifest_digest || raw_path) as raw_path
    from slice
    where
        metric in ('pod_cpu_throttled_period_count', 'pod_cpu_period_count', 'cgroup_cpu_throttled_period_count', 'cgroup_cpu_period_count')
    group by
        role,
        run_id,
        subject
    union all
    select
        role,
        run_id,
        subject,
        'busy' as kind,
        false as is_neighbour,
        1 - sum(value_delta) filter (where labels ->> '$.mode' in ('idle', 'iowait')) / nullif(sum(value_delta), 0) as share,
        bool_and(is_supported) as is_supported,
        min(note) as note,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(raw_path, artifact_manifest_digest || raw_path) as raw_path
    from slice
    where metric = 'cpu_mode_s'
    group by
        role,
        run_id,
        subject
    union all
    select
        role,
        run_id,
        subject,
        if(metric = 'cpu_util_pct', 'busy', 'pressure') as kind,
        false as is_neighbour,
        if(metric = 'cpu_util_pct', value_mean / 100, rate_per_s) as share,
        is_supported,
        note,
        artifact_manifest_digest,
        raw_path
    from slice
    where metric in ('cpu_util_pct', 'cpu_pressure_s')
),

usual as (
    select
        kind,
        median(share) as share
    from measured
    where
        role = 'baseline'
        and is_supported
        and not is_neighbour
    group by kind
)

select
    measured.subject,
    measured.is_neighbour,
    case
        when not measured.is_supported then null
        when measured.kind = 'busy' then measured.share >= 0.9 and coalesce(measured.share > usual.share + 0.1, true)
        else measured.share >= 0.1 and coalesce(measured.share > 1.5 * usual.share, true)
    end as is_found,
    -- At most the time in which the run's threads, or the pod's or any tasks, waited for a CPU. Busy CPUs alone do not say how much was lost.
    case
        when own.share is not null and measured.kind <> 'throttled' then
            (1 - coalesce(usual_own.share, 0)) / (1 - least(0.99, own.share))
        when measured.kind <> 'busy' then 1 / (1 - least(0.99, greatest(0, measured.share - coalesce(usual.share, 0))))
    end as slowdown,
    if(measured.kind = 'busy' and own.share is null, 0.5, null) as score,
    case measured.kind
        when 'throttled' then printf('its CPU was throttled in %.3g %% of the scheduling periods', 100 * measured.share)
        when 'own' then printf('they waited for a CPU for %.3g %% of the time in which they could have run', 100 * measured.share)
        when 'busy' then printf('its CPUs were busy for %.3g %% of the time', 100 * measured.share)
        else printf('tasks waited for a CPU for %.3g %% of the time', 100 * measured.share)
    end
    || coalesce(printf(', in the baseline %.3g %%', 100 * usual.share), '; the baseline has no such figure')
    || coalesce(measured.note, '') as statement,
    100 * measured.share as observed,
    100 * usual.share as expected,
    '%' as unit,
    measured.artifact_manifest_digest,
    measured.raw_path
from measured
left join usual
    on usual.kind = measured.kind
left join own
    on own.run_id = measured.run_id
left join usual as usual_own
    on usual_own.kind = 'own'
where
    measured.role = 'run'
    and measured.share is not null
