/*
description: Names resolve slowly, or not at all
playbook: tail_latency_regression
evidence: CoreDNS' (node-local DNS cache's) coredns_dns_request_duration_seconds in Prometheus' formats, events of its pods, or errors of requests
order: 4
*/
with latency as (
    select
        explained.role,
        explained.run_id,
        slice.subject as server,
        case when slice.value_p99 is not null then 'p99' when slice.value_p95 is not null then 'p95' else 'mean' end as statistic,
        max(coalesce(slice.value_p99, slice.value_p95, slice.value_mean)) as value,
        bool_and(slice.is_supported) as is_supported,
        min(slice.note) as note,
        arg_max(slice.artifact_manifest_digest, coalesce(slice.value_p99, slice.value_p95, slice.value_mean)) as artifact_manifest_digest,
        arg_max(slice.raw_path, coalesce(slice.value_p99, slice.value_p95, slice.value_mean)) as raw_path
    from run_telemetry as slice
    inner join explained using (run_id)
    where slice.metric = 'dns_request_ms'
    group by
        explained.role,
        explained.run_id,
        server,
        statistic
),

usual as (
    select median(value) as value
    from latency
    where
        role = 'baseline'
        and is_supported
),

tail as (
    select max(observed - expected) as added_ms
    from changed
    where
        regexp_matches(metric, '_p99_ms$')
        and observed > expected
),

failed as (
    select
        count(*) as failures,
        any_value(request.error order by request.error) as error,
        min(request.artifact_manifest_digest) as artifact_manifest_digest
    from request_fact as request
    inner join explained
        on
            explained.run_id = request.run_id
            and explained.role = 'run'
    where regexp_matches(request.error, '(?i)name resolution|no such host|name or service not known|getaddrinfo|nodename nor servname|NXDOMAIN|SERVFAIL')
    having count(*) > 0
),

-- Captures of the cluster that the run was in: of other clusters' DNS nothing follows.
own_capture as (
    select event.artifact_manifest_digest
    from run_event as event
    inner join explained
        on
            explained.run_id = event.run_id
            and explained.role = 'run'
    union
    select node.artifact_manifest_digest
    from node_state_fact as node
    inner join run_node
        on lower(run_node.node_name) = lower(node.node_name)
    inner join explained
        on
            explained.run_id = run_node.run_id
            and explained.role = 'run'
),

event as (
    select
        bool_or(own_capture.artifact_manifest_digest is not null) as is_own_cluster,
        happened.object_name,
        happened.code,
        min(happened.message) as message,
        min(happened.artifact_manifest_digest) as artifact_manifest_digest,
        arg_min(happened.raw_path, happened.artifact_manifest_digest || happened.raw_path) as raw_path
    from cluster_event_fact as happened
    inner join explained
        on
            explained.role = 'run'
            and happened.event_at <= explained.ended_at
            and coalesce(happened.last_seen_at, happened.event_at) >= explained.started_at
    left join own_capture
        on own_capture.artifact_manifest_digest = happened.artifact_manifest_digest
    where
        happened.severity <> 'info'
        and (
            regexp_matches(happened.object_name, '(?i)coredns|kube-dns|node-?local-?dns|nodelocaldns')
            or regexp_matches(happened.message, '(?i)name resolution|no such host|server misbehaving|lookup \S+( on \S+)?: .*timeout')
        )
    group by
        happened.object_name,
        happened.code
)

select
    'DNS server ' || latency.server as subject,
    if(
        latency.is_supported and usual.value is not null, latency.value > 1.5 * usual.value and latency.value - usual.value > 5, null
    ) as is_found,
    least(1, coalesce((latency.value - usual.value) / nullif(tail.added_ms, 0), 1 - usual.value / nullif(latency.value, 0), 0)) as score,
    printf('lookups took %.4g ms (%s)', latency.value, latency.statistic)
    || coalesce(printf(', in the baseline %.4g ms', usual.value), '; the baseline has no such figure')
    || coalesce(latency.note, '') as statement,
    latency.value as observed,
    usual.value as expected,
    'ms' as unit,
    latency.artifact_manifest_digest,
    latency.raw_path
from latency
cross join usual
cross join tail
where
    latency.role = 'run'
    and latency.value is not null
union all
select
    'requests' as subject,
    true as is_found,
    1 as score,
    printf('%d request%s failed because a name did not resolve, such as: %s', failures, if(failures = 1, '', 's'), error) as statement,
    failures as observed,
    null as expected,
    'requests' as unit,
    artifact_manifest_digest,
    null as raw_path
from failed
union all
select
    object_name as subject,
    if(is_own_cluster, true, null) as is_found,
    0.7 as score,
    concat(
        code, coalesce(': ' || message, ''), if(is_own_cluster, '', '; nothing shows that the run was in this cluster')
    ) as statement,
    null as observed,
    null as expected,
    null as unit,
    artifact_manifest_digest,
    raw_path
from event
