/*
description: The network loses packets, is slow, or a link went down
playbook: [low_gpu_utilization, slow_host]
evidence: node exporter's node_network_* and node_infiniband_* counters, ping-exporter, or events of network cards (kernel logs, Kubernetes)
order: 4
part: network
*/
-- Two Prometheus servers that scrape one network card report the same twice.
with of_port as (
    select
        explained.role,
        explained.run_id,
        slice.subject as nic,
        slice.metric,
        slice.labels ->> '$.port' as port,
        max(slice.value_delta) as value_delta,
        max(slice.value_mean) as value_mean,
        bool_and(slice.is_supported) as is_supported,
        min(slice.note) as note,
        min(slice.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(slice.raw_path, slice.artifact_manifest_digest || slice.raw_path) as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where
        slice.scope = 'nic'
        and slice.metric in (
            'nic_receive_error_count', 'nic_send_error_count', 'nic_receive_drop_count', 'nic_send_drop_count', 'nic_symbol_error_count',
            'nic_link_down_count', 'nic_link_recovery_count', 'nic_received_packet_count', 'ping_loss_pct', 'ping_rtt_mean_ms'
        )
    group by
        explained.role,
        explained.run_id,
        nic,
        slice.metric,
        port
),

counted as (
    select
        role,
        run_id,
        nic,
        sum(value_delta order by value_delta) filter (where metric like '%error_count' or metric like '%drop_count') as errors,
        sum(value_delta order by value_delta) filter (where metric in ('nic_link_down_count', 'nic_link_recovery_count')) as link_failures,
        sum(value_delta order by value_delta) filter (where metric = 'nic_received_packet_count') as packets,
        max(value_mean) filter (where metric = 'ping_loss_pct') as loss_pct,
        max(value_mean) filter (where metric = 'ping_rtt_mean_ms') as rtt_ms,
        bool_and(is_supported) as is_supported,
        min(note) as note,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(raw_path, artifact_manifest_digest || raw_path) as raw_path
    from of_port
    group by
        role,
        run_id,
        nic
),

measured as (
    select
        *,
        unnest([
            {kind: 'link_failures', value: link_failures},
            {kind: 'errors', value: errors},
            {kind: 'loss', value: loss_pct},
            {kind: 'rtt', value: rtt_ms}
        ], recursive := true)
    from counted
),

usual as (
    select
        kind,
        median(value) as value
    from (
        select
            kind,
            run_id,
            max(value) as value
        from measured
        where
            role = 'baseline'
            and is_supported
        group by
            kind,
            run_id
    ) as of_run
    group by kind
)

select
    'network card ' || measured.nic as subject,
    case
        when not measured.is_supported then null
        when measured.kind = 'link_failures' then measured.value > 0 and coalesce(measured.value > usual.value, true)
        when measured.kind = 'errors' then
            measured.value >= greatest(10, coalesce(measured.packets, 0) / 10000) and coalesce(measured.value > 2 * usual.value, true)
        when measured.kind = 'loss' then measured.value >= 0.5 and coalesce(measured.value > 2 * usual.value, true)
        when usual.value is not null then measured.value > 1.5 * usual.value and measured.value - usual.value >= 0.1
    end as is_found,
    if(measured.kind = 'rtt', measured.value / nullif(usual.value, 0), null) as slowdown,
    case measured.kind
        when 'link_failures' then 0.9
        when 'loss' then least(0.9, 0.3 + measured.value / 10)
        when 'errors' then 0.3 + least(0.6, 60 * measured.value / nullif(measured.packets, 0))
        else least(0.8, 1 - usual.value / nullif(measured.value, 0))
    end as score,
    case measured.kind
        when 'link_failures' then printf('its link failed or recovered %.4g times', measured.value)
        when 'errors' then
            printf('%.4g errors and dropped packets', measured.value) || coalesce(printf(' beside %.4g packets received', measured.packets), '')
        when 'loss' then printf('%.3g %% of pings were lost', measured.value)
        else printf('a ping took %.3g ms', measured.value)
    end
    || coalesce(
        printf(', in the baseline %.3g%s', usual.value, case measured.kind when 'loss' then ' %' when 'rtt' then ' ms' else '' end),
        '; the baseline has no such figure'
    )
    || coalesce(measured.note, '') as statement,
    measured.value as observed,
    usual.value as expected,
    case measured.kind when 'loss' then '%' when 'rtt' then 'ms' else 'count' end as unit,
    measured.artifact_manifest_digest,
    measured.raw_path
from measured
left join usual
    on usual.kind = measured.kind
where
    measured.role = 'run'
    and measured.value is not null
union all
select
    concat_ws(' ', run_event.object_kind, run_event.object_name, 'on', run_event.node_name) as subject,
    true as is_found,
    null as slowdown,
    if(severity = 'error', 0.9, 0.6) as score,
    concat(code, coalesce(': ' || message, '')) as statement,
    null as observed,
    null as expected,
    null as unit,
    run_event.artifact_manifest_digest,
    raw_path
from run_event
inner join explained
    on
        explained.run_id = run_event.run_id
        and explained.role = 'run'
where
    event_class in ('nic_down', 'nic_degraded')
    and phase = 'running'
