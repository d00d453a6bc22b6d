/*
description: A pod restarted, started cold or was scaled while the run ran
playbook: tail_latency_regression
evidence: events of Kubernetes (kubectl get events), or kube-state-metrics' kube_pod_container_status_restarts_total in Prometheus' formats
order: 3
*/
with restarted as (
    select
        'pod ' || slice.subject as subject,
        coalesce(slice.is_neighbour, false) as is_neighbour,
        case
            when slice.is_ambiguous then null
            when slice.value_delta > 0 then true
            -- Between a sample before the run and one in it, or one in it and one after it.
            when slice.value_edge_delta > 0 then null
            when slice.is_supported then false
        end as is_found,
        1.0 as score,
        case
            when slice.value_edge_delta > 0 and coalesce(slice.value_delta, 0) = 0
                then printf('the restart counter of its container grew by %.4g at the start or end of the run, in it or outside', slice.value_edge_delta)
            else printf('the restart counter of its container grew by %.4g while the run ran', coalesce(slice.value_delta, 0))
        end
        || coalesce(slice.note, '') as statement,
        slice.value_delta as observed,
        null::double as expected,
        'restarts' as unit,
        slice.artifact_manifest_digest,
        slice.raw_path
    from run_telemetry as slice
    inner join explained
        on
            explained.run_id = slice.run_id
            and explained.role = 'run'
    where
        slice.metric = 'pod_restart_count'
        and slice.kind = 'counter'
),

event as (
    select
        explained.role,
        run_event.*,
        run_event.phase = 'running' and (
            run_event.event_class in ('restart', 'oom', 'probe', 'eviction', 'preemption', 'node_not_ready')
            or regexp_matches(run_event.code, '(?i)scal(e|ing)')
            -- A pod that starts with the run is the run's own start.
            or (run_event.code in ('Scheduled', 'Pulling', 'Pulled', 'Created', 'Started', 'Killing', 'FailedScheduling') and run_event.s_after_start > 10)
        ) as is_disturbance
    from run_event
    inner join explained using (run_id)
    where run_event.source = 'kubernetes'
),

usual as (
    select
        run_id,
        code,
        count(*) filter (where is_disturbance) as disturbances
    from event
    where role = 'baseline'
    group by
        run_id,
        code
),

usual_code as (
    select code
    from usual
    group by code
    having count(*) filter (where disturbances > 0) > (select count(distinct run_id) from usual) / 2
),

disturbed as (
    select
        event.object_kind,
        event.object_name,
        event.code,
        min(event.concerns) as concerns,
        min(event.s_after_start) as s_after_start,
        sum(coalesce(event.count, 1)) as times,
        arg_min(event.message, event.event_at) as message,
        arg_min(event.artifact_manifest_digest, event.event_at) as artifact_manifest_digest,
        arg_min(event.raw_path, event.event_at) as raw_path,
        bool_or(usual_code.code is not null) as is_usual
    from event
    left join usual_code
        on usual_code.code = event.code
    where
        event.role = 'run'
        and event.is_disturbance
    group by
        event.object_kind,
        event.object_name,
        event.code
)

select * from restarted
union all
select
    concat_ws(' ', lower(object_kind), object_name) as subject,
    concerns = 'node' and lower(object_kind) = 'pod' as is_neighbour,
    not is_usual as is_found,
    -- What happened to a neighbour on the same node may have no part in it.
    if(concerns = 'node', 0.5, 1) as score,
    concat(
        code, if(times > 1, printf(' (%d times)', times::bigint), ''),
        if(s_after_start < 0, ', first before the run', printf(', %.0f s after the start of the run', s_after_start)),
        if(concerns = 'node', ', on a node of the run', ''), coalesce(': ' || message, '')
    ) as statement,
    times::double as observed,
    null as expected,
    'events' as unit,
    artifact_manifest_digest,
    raw_path
from disturbed
union all
select
    'events' as subject,
    false as is_neighbour,
    false as is_found,
    0 as score,
    printf('%d events concern the run, and none is a restart, a cold start or a change of scale while it ran', count(*)) as statement,
    null as observed,
    null as expected,
    null as unit,
    min(artifact_manifest_digest) as artifact_manifest_digest,
    arg_min(raw_path, artifact_manifest_digest || raw_path) as raw_path
from event
where role = 'run'
having
    count(*) > 0
    and not bool_or(is_disturbance)
