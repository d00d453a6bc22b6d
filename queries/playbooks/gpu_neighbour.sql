/*
description: Another process used the GPU
playbook: [slow_gpus, low_gpu_utilization]
evidence: the processes on each GPU, which wh record samples
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
