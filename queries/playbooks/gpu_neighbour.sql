/*
description: Another process used the GPU
playbook: [slow_gpus, low_gpu_utilization]
evidence: the processes on each GPU, which wh record samples; or memory and utilisation of GPUs (dcgm-exporter, wh record) and a run to compare with
order: 1
*/
with process as (
    select
        explained.role,
        explained.run_id,
        'GPU ' || coalesce(slice.gpu_uuid, slice.labels ->> '$.gpu') as subject,
        coalesce(slice.labels ->> '$.process_name', 'a process that cannot be seen from here') || ' (pid ' || (slice.labels ->> '$.pid') || ')' as name,
        (slice.labels ->> '$.is_own')::boolean as is_own,
        -- Of the whole run: a process that came late used the GPU for less of it.
        slice.value_integral / nullif(slice.duration_s, 0) as used_pct,
        slice.artifact_manifest_digest,
        slice.raw_path
    from telemetry_slice_fact as slice
    inner join explained using (run_id)
    where
        slice.metric = 'gpu_process_sm_util_pct'
        and slice.window_kind = 'run'
),

other as (
    select
        role,
        run_id,
        subject,
        coalesce(sum(used_pct) filter (where not is_own), 0) as used_pct,
        bool_and(is_own is not null) as is_known,
        string_agg(name, ', ' order by used_pct desc, name) filter (where is_own is distinct from true) as names,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        min(raw_path) as raw_path
    from process
    group by
        role,
        run_id,
        subject
),

-- Where no sample names processes: another one holds memory, at the least a CUDA context of a few hundred MB, and keeps the GPU busy for work that is
-- not the run's.
held as (
    select
        explained.role,
        explained.run_id,
        coalesce(slice.gpu_uuid, slice.subject) as gpu,
        max(slice.value_max) filter (where slice.metric = 'gpu_memory_used_bytes') as memory_bytes,
        coalesce(
            max(slice.value_mean) filter (where slice.metric = 'gpu_sm_active_pct'), max(slice.value_mean) filter (where slice.metric = 'gpu_util_pct')
        ) as busy_pct,
        bool_and(slice.is_supported) as is_supported,
        min(slice.artifact_manifest_digest) as artifact_manifest_digest,
        min(slice.raw_path) as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where
        slice.metric in ('gpu_memory_used_bytes', 'gpu_sm_active_pct', 'gpu_util_pct')
        and not slice.is_idle_neighbour
        and slice.is_neighbour is distinct from true
    group by
        explained.role,
        explained.run_id,
        coalesce(slice.gpu_uuid, slice.subject)
),

usual_held as (
    select
        median(memory_bytes) as memory_bytes,
        max(memory_bytes) as memory_most_bytes,
        median(busy_pct) as busy_pct
    from held
    where
        role = 'baseline'
        and is_supported
),

slower as (
    select coalesce(max(expected / observed), 1) as worse_by
    from changed
    where
        better = 'higher'
        and metric like '%\_per\_s' escape '\'
        and observed > 0
        and expected > 0
),

usual as (
    select median(used_pct) as used_pct
    from other
    where
        role = 'baseline'
        and is_known
)

select
    other.subject,
    if(other.is_known, other.used_pct >= 5 and coalesce(other.used_pct > usual.used_pct + 5, true), null) as is_found,
    -- What is left of the GPU for the run is at least the rest.
    1 / (1 - least(0.95, greatest(0, other.used_pct - coalesce(usual.used_pct, 0)) / 100)) as slowdown,
    case
        when not other.is_known then printf('it is not known whether these are processes of the run: %s', other.names)
        when other.names is null then 'no other process was on it'
        else printf('other processes used its SMs for %.3g %% of the time: %s', other.used_pct, other.names)
    end
    || coalesce(printf(', in the baseline %.3g %%', usual.used_pct), '; the baseline has no such figure') as statement,
    other.used_pct as observed,
    usual.used_pct as expected,
    '%' as unit,
    other.artifact_manifest_digest,
    other.raw_path
from other
cross join usual
where other.role = 'run'
union all
select
    'GPU ' || own.gpu as subject,
    if(
        own.is_supported and usual.memory_bytes is not null,
        own.memory_bytes - usual.memory_bytes >= 200e6 and own.memory_bytes > usual.memory_most_bytes + 200e6 and busy.growth >= 1.2, null
    ) as is_found,
    busy.growth as slowdown,
    printf('it held %.4g GB of memory at most and was busy for %.3g %% of the time', own.memory_bytes / 1e9, own.busy_pct)
    || coalesce(
        printf(
            ', in the baseline %.4g GB and %.3g %%; for the same work it was busy for %.3g times as long', usual.memory_bytes / 1e9, usual.busy_pct,
            busy.growth
        ), '; the baseline has no such figure'
    )
    || '; no sample names its processes' as statement,
    own.memory_bytes as observed,
    usual.memory_bytes as expected,
    'bytes' as unit,
    own.artifact_manifest_digest,
    own.raw_path
from held as own
cross join usual_held as usual
cross join slower
cross join lateral (select slower.worse_by * own.busy_pct / nullif(usual.busy_pct, 0) as growth) as busy
where
    own.role = 'run'
    and own.memory_bytes is not null
    and own.busy_pct is not null
    and not exists (
        select 1
        from process
        where process.run_id = own.run_id
    )
