/*
description: The GPUs wait for input, because loading or preparing it is slow
playbook: [low_gpu_utilization, slow_host]
evidence: times that ranks or loaders wait for data (a metric input_wait_s, or dataloader times of a profiler), or utilisation of the host's CPUs beside that of the GPUs
order: 2
part: input
*/
with metered as (
    select
        explained.role,
        explained.run_id,
        coalesce('rank ' || slice.rank_id, concat_ws(' ', slice.scope, slice.subject)) as subject,
        slice.metric,
        case
            when slice.kind = 'counter' then slice.value_delta
            when slice.kind = 'histogram' then slice.value_mean * slice.value_delta
            when slice.kind is null then slice.value_mean
        end
        / if(slice.unit = 'ms', 1000, 1) as wait_s,
        coalesce(slice.counted_s, slice.duration_s) as counted_s,
        slice.duration_s,
        slice.is_supported,
        slice.note,
        slice.artifact_manifest_digest,
        slice.raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where
        regexp_matches(slice.metric, '^(input|data|data_?load(er|ing)?)(_.*)?_(wait|stall|load|time)?_?(s|ms)$')
        and slice.unit in ('s', 'ms')
),

-- What a profiler traced of each rank, step by step; the first step fills the loader.
traced_step as (
    select
        explained.role,
        traced.run_id,
        'rank ' || coalesce(traced.rank, 0) as subject,
        traced.dataloader_s / nullif(traced.step_time_s, 0) as share,
        traced.artifact_manifest_digest,
        traced.raw_path
    from rank_step_fact as traced
    inner join explained using (run_id)
    where
        traced.step is not null
        and traced.dataloader_s is not null
    qualify traced.step > min(traced.step) over (partition by traced.run_id, traced.rank)
),

-- In the time between the samples in the run and its ends, it may have waited always or never.
waited as (
    select
        role,
        run_id,
        subject,
        metric,
        wait_s / nullif(counted_s, 0) as share,
        wait_s / nullif(greatest(duration_s, counted_s), 0) as share_least,
        (wait_s + greatest(0, duration_s - counted_s)) / nullif(greatest(duration_s, counted_s), 0) as share_most,
        is_supported,
        note,
        artifact_manifest_digest,
        raw_path
    from metered
    union all
    select
        role,
        run_id,
        subject,
        'dataloader_s' as metric,
        median(share) as share,
        quantile_cont(share, 0.25) as share_least,
        quantile_cont(share, 0.75) as share_most,
        true as is_supported,
        null as note,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        min(raw_path) as raw_path
    from traced_step
    group by
        role,
        run_id,
        subject
),

-- Ranks wait for one another, so the one that waits most for its input sets the pace; all of them have lost what each has lost.
shared as (
    select
        metric,
        min(share_least) as share_least
    from waited
    where role = 'run'
    group by metric
),

usual as (
    select
        metric,
        median(share) as share
    from waited
    where
        role = 'baseline'
        and is_supported
    group by metric
),

host as (
    select
        explained.role,
        explained.run_id,
        slice.subject as node,
        coalesce(
            max(slice.value_mean) filter (where slice.metric = 'cpu_util_pct'),
            100 - 100 * sum(slice.value_delta) filter (where slice.metric = 'cpu_mode_s' and slice.labels ->> '$.mode' in ('idle', 'iowait'))
            / nullif(sum(slice.value_delta) filter (where slice.metric = 'cpu_mode_s'), 0)
        ) as cpu_pct,
        bool_and(slice.is_supported) as is_supported,
        min(slice.note) as note,
        min(slice.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(slice.raw_path, slice.artifact_manifest_digest || slice.raw_path) as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where slice.metric in ('cpu_util_pct', 'cpu_mode_s')
    group by
        explained.role,
        explained.run_id,
        node
),

gpu as (
    select
        slice.run_id,
        coalesce(avg(slice.value_mean) filter (where slice.metric = 'gpu_sm_active_pct'), avg(slice.value_mean)) as busy_pct
    from run_telemetry as slice
    where
        slice.metric in ('gpu_sm_active_pct', 'gpu_util_pct')
        and slice.is_supported
    group by slice.run_id
),

usual_host as (
    select
        median(host.cpu_pct) as cpu_pct,
        median(gpu.busy_pct) as busy_pct
    from host
    inner join gpu
        on gpu.run_id = host.run_id
    where
        host.role = 'baseline'
        and host.is_supported
)

select
    waited.subject,
    if(waited.is_supported, waited.share >= 0.05 and coalesce(waited.share > 1.5 * usual.share, true), null) as is_found,
    (1 - coalesce(usual.share, 0)) / (1 - least(0.99, waited.share_most)) as slowdown,
    (1 - coalesce(usual.share, 0)) / (1 - least(0.99, shared.share_least)) as slowdown_least,
    null as score,
    printf('it waited for input for %.3g %% of the time', 100 * waited.share)
    || coalesce(printf(', in the baseline %.3g %%', 100 * usual.share), '; the baseline has no such figure')
    || coalesce(waited.note, '') as statement,
    100 * waited.share as observed,
    100 * usual.share as expected,
    '%' as unit,
    waited.artifact_manifest_digest,
    waited.raw_path
from waited
left join usual
    on usual.metric = waited.metric
inner join shared
    on shared.metric = waited.metric
where
    waited.role = 'run'
    and waited.share is not null
union all
select
    'node ' || host.node as subject,
    if(host.is_supported, host.cpu_pct >= 90 and gpu.busy_pct < 60 and coalesce(host.cpu_pct > usual_host.cpu_pct + 10, true), null) as is_found,
    -- At most all that the GPUs waited more.
    usual_host.busy_pct / nullif(gpu.busy_pct, 0) as slowdown,
    1 as slowdown_least,
    0.4 as score,
    printf('its CPUs were busy for %.3g %% of the time and its GPUs for %.3g %%', host.cpu_pct, gpu.busy_pct)
    || coalesce(printf('; in the baseline the CPUs for %.3g %%', usual_host.cpu_pct), '')
    || coalesce(host.note, '') as statement,
    host.cpu_pct as observed,
    usual_host.cpu_pct as expected,
    '%' as unit,
    host.artifact_manifest_digest,
    host.raw_path
from host
inner join gpu
    on gpu.run_id = host.run_id
cross join usual_host
where
    host.role = 'run'
    and host.cpu_pct is not null
