/*
description: >
  One row per run and series of telemetry: what it says of the whole run, and whether it can answer a question about the run. It
  cannot if its samples cover too little of the run, if another run was at the same GPU, pod or server at the same time, if its GPU
  was idle while others of the node worked and nothing says that it is the run's, or if it is a clock, which an idle GPU lowers, and the GPU was
  idle for most of the run. What is measured of a whole node is true of
  the node whoever was on it. The checks of playbooks read this table.
grain: [run_id, artifact_manifest_digest, series_number, scope, scope_name, metric, window_start]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {tests: [not_null]}
  window_start: {type: timestamptz, unit: UTC, description: "Start of the run, as the evidence of the values states it", tests: [not_null]}
  scope: {tests: [not_null]}
  subject: {type: varchar, description: "Which one, in words: its node, and its own name", tests: [not_null]}
  metric: {tests: [not_null]}
  rate_per_s: {type: double, description: "Increase of a counter a second, between the samples of the run"}
  duration_s: {type: double, unit: s, description: "Length of the run"}
  is_idle_neighbour: {type: boolean, description: "Whether its GPU was idle while others of the node worked, and nothing says that it is the run's", tests: [not_null]}
  is_neighbour: {type: boolean, description: "Whether it is of a pod on the run's node that is not the run's, or of a GPU that such a pod uses; NULL: it is of no pod, or the run's pods are not known"}
  is_supported: {type: boolean, description: "Whether it can answer a question about the run", tests: [not_null]}
  note: {type: varchar, description: "Why it cannot, or what is assumed, to be appended to a statement; NULL: nothing"}
*/
with slice as (
    select
        *,
        if(scope in ('gpu', 'link'), coalesce(gpu_uuid, scope_name), null) as gpu,
        if(scope = 'pod', scope_name, coalesce(stated ->> '$.exported_pod', stated ->> '$.pod', stated ->> '$.pod_name')) as pod,
        coalesce(stated ->> '$.exported_namespace', stated ->> '$.namespace') as namespace
    from (
        select
            *,
            if(json_valid(labels), labels, null) as stated
        from telemetry_slice_fact
    ) as slice
    where window_kind = 'run'
),

of_gpu as (
    select
        slice.run_id,
        slice.gpu,
        max(slice.value_max) <= min(policy.idle_below_pct) as is_idle,
        max(slice.value_p50) <= min(policy.idle_below_pct) as is_mostly_idle
    from slice
    cross join telemetry_policy as policy
    where
        slice.metric in ('gpu_util_pct', 'gpu_sm_active_pct')
        and slice.value_max is not null
    group by
        slice.run_id,
        slice.gpu
),

working as (
    select distinct run_id
    from of_gpu
    where not is_idle
),

-- The run's pods: those that its evidence joins it to; else those that its servers name; else those that its working GPUs name.
named as (
    select distinct
        slice.run_id,
        slice.pod,
        slice.namespace,
        case
            when slice.join_confidence <> 'place' then 1
            when slice.scope = 'server' then 2
            else 3
        end as certainty
    from slice
    left join of_gpu
        on
            of_gpu.run_id = slice.run_id
            and of_gpu.gpu = slice.gpu
    where
        slice.pod is not null
        and lower(slice.pod) not like '%exporter%'
        and (slice.join_confidence <> 'place' or slice.scope = 'server' or of_gpu.is_idle is false)
),

own_pod as (
    select
        run_id,
        list(pod order by pod) as pods,
        list(namespace order by namespace) as namespaces
    from (
        select *
        from named
        qualify certainty = min(certainty) over (partition by run_id)
    ) as surest
    group by run_id
),

-- GPUs are told apart by their pods only where one of them names a pod of the run.
with_own_gpu as (
    select distinct slice.run_id
    from slice
    inner join own_pod
        on own_pod.run_id = slice.run_id
    where
        slice.gpu is not null
        and list_contains(own_pod.pods, slice.pod)
),

doubted as (
    select
        slice.*,
        -- A pod of the run's namespace may be a part of the same deployment.
        case
            when slice.pod is not null and own_pod.run_id is not null and (slice.scope = 'pod' or (slice.gpu is not null and with_own_gpu.run_id is not null))
                then
                    slice.join_confidence = 'place'
                    and not list_contains(own_pod.pods, slice.pod)
                    and not coalesce(list_contains(own_pod.namespaces, slice.namespace), false)
        end as is_neighbour,
        coalesce(of_gpu.is_idle and working.run_id is not null and slice.join_confidence = 'place', false) as is_idle_neighbour,
        coalesce(of_gpu.is_mostly_idle and slice.metric in ('gpu_sm_clock_mhz', 'gpu_memory_clock_mhz'), false) as is_idle_clock,
        coalesce(slice.is_ambiguous, false) and slice.scope not in ('node', 'nic', 'disk') as may_be_of_another
    from slice
    left join of_gpu
        on
            of_gpu.run_id = slice.run_id
            and of_gpu.gpu = slice.gpu
    left join working
        on working.run_id = slice.run_id
    left join own_pod
        on own_pod.run_id = slice.run_id
    left join with_own_gpu
        on with_own_gpu.run_id = slice.run_id
)

select
    run_id,
    artifact_manifest_digest,
    series_number,
    raw_path,
    window_start,
    scope,
    scope_name,
    case
        when nullif(scope_name, '') is null then coalesce(node_name, 'of the run')
        when scope not in ('node', 'gpu', 'link', 'nic', 'disk') or node_name is null or starts_with(scope_name, node_name) then scope_name
        else node_name || ' ' || scope_name
    end as subject,
    node_name,
    gpu_uuid,
    rank_id,
    labels,
    metric,
    unit,
    kind,
    value_min,
    value_max,
    value_mean,
    value_p50,
    value_p95,
    value_p99,
    value_last,
    value_delta,
    value_edge_delta,
    value_delta / nullif(counted_s, 0) as rate_per_s,
    counted_s,
    duration_s,
    is_ambiguous,
    is_idle_neighbour,
    is_neighbour,
    coalesce(is_supported, true) and not is_idle_neighbour and not is_idle_clock and not may_be_of_another
    and not (gpu is not null and coalesce(is_neighbour, false)) as is_supported,
    '; ' || nullif(concat_ws(
        '; ',
        if(is_neighbour, if(gpu is null, 'this pod is not the run''s', 'a pod that is not the run''s uses this GPU'), null),
        if(is_ambiguous, 'another run was there at the same time' || if(may_be_of_another, ', and it may be of that run', ''), null),
        if(is_idle_neighbour, 'this GPU was idle while others worked, and may not be the run''s', null),
        if(is_idle_clock, 'this GPU was idle for most of the run', null),
        if(is_supported is false, printf('the samples cover only %.3g %% of the run', coalesce(coverage_pct, 0)), null),
        if(contains(clock, 'assumed') and join_confidence <> 'stated', clock, null)
    ), '') as note
from doubted
