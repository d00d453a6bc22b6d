/*
description: >
  One row per capture, device and thing that is wrong with it: against the node's own configuration, which is stated, or against the manifest
  that fits the capture, which is inferred. A capture states neither its node nor its time.
feeds: cluster_event
*/
with device as (
    select
        device.artifact_manifest_digest,
        device.raw_path,
        device.raw_offset,
        device.raw_length,
        device.component_kind,
        device.component,
        device.is_listed,
        device.operstate,
        device.flags,
        device.mtu,
        device.speed,
        device.bond,
        device.address,
        device.is_configured,
        device.configured_mtu,
        device.configured_bond,
        device.configured_address,
        device.link_speed,
        device.link_width,
        device.port_state,
        coalesce(device.is_configured, false) or expected.component is not null as is_wanted,
        expected.manifest_path,
        expected.mtu as wanted_mtu,
        expected.speed as wanted_speed,
        expected.flags as wanted_flags,
        expected.link_speed as wanted_link_speed,
        expected.link_width as wanted_link_width
    from node_health_device as device
    left join node_health_expected as expected
        on
            expected.artifact_manifest_digest = device.artifact_manifest_digest
            and expected.raw_path = device.raw_path
            and expected.component_kind = device.component_kind
            and expected.component = device.component
    where not device.is_manifest
),

absent as (
    select expected.*
    from node_health_expected as expected
    anti join node_health_device as device
        on
            device.artifact_manifest_digest = expected.artifact_manifest_digest
            and device.raw_path = expected.raw_path
            and device.component_kind = expected.component_kind
            and device.component = expected.component
),

found as (
    select
        *,
        'interface-missing' as code,
        case when is_configured is null then 'inferred' else 'stated' end as certainty,
        'the kernel does not list it' as message
    from device
    where component_kind = 'interface' and not is_listed and (is_wanted or is_configured is not null)
    union all
    select
        *,
        'interface-down' as code,
        case when is_configured then 'stated' else 'inferred' end as certainty,
        'it is ' || operstate as message
    from device
    where component_kind = 'interface' and is_wanted and upper(operstate) = 'DOWN'
    union all
    select
        *,
        'interface-slow' as code,
        'inferred' as certainty,
        printf('%.0f Mbit/s, by %s it should have %.0f', speed, manifest_path, wanted_speed) as message
    from device
    where component_kind = 'interface' and speed < wanted_speed
    union all
    select
        *,
        'interface-mtu' as code,
        case when mtu <> configured_mtu then 'stated' else 'inferred' end as certainty,
        printf('MTU %.0f, it should be %.0f', mtu, case when mtu <> configured_mtu then configured_mtu else wanted_mtu end) as message
    from device
    where component_kind = 'interface' and (mtu <> configured_mtu or mtu <> wanted_mtu)
    union all
    select
        *,
        'interface-bond' as code,
        'stated' as certainty,
        printf('leg of %s, by its configuration of %s', coalesce(bond, 'no bond'), configured_bond) as message
    from device
    where component_kind = 'interface' and is_listed and configured_bond is distinct from bond and configured_bond is not null
    union all
    select
        *,
        'interface-address' as code,
        'stated' as certainty,
        printf('hardware address %s, by its configuration %s', address, configured_address) as message
    from device
    where component_kind = 'interface' and address <> configured_address
    union all
    select
        *,
        'interface-flags' as code,
        'inferred' as certainty,
        'without ' || array_to_string(list_filter(string_split(wanted_flags, ','), lambda flag: not list_contains(string_split(flags, ','), flag)), ', ')
            as message
    from device
    where
        component_kind = 'interface'
        and upper(operstate) = 'UP'
        and not list_has_all(string_split(flags, ','), string_split(wanted_flags, ','))
    union all
    select
        *,
        'pcie-degraded' as code,
        'inferred' as certainty,
        printf('x%.0f at %s, by %s x%.0f at %s', link_width, link_speed, manifest_path, wanted_link_width, wanted_link_speed) as message
    from device
    where
        component_kind = 'pci'
        and (link_width <> wanted_link_width or not list_contains(string_split(wanted_link_speed, ','), link_speed))
    union all
    select
        *,
        'infiniband-down' as code,
        'stated' as certainty,
        'its port is ' || port_state as message
    from device
    where component_kind = 'infiniband' and port_state is not null and not contains(upper(port_state), 'ACTIVE')
)

select
    'node_health' as source,
    code,
    certainty,
    component_kind as object_kind,
    component as object_name,
    message,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from found
union all
select
    'node_health' as source,
    case component_kind when 'pci' then 'pcie-missing' else 'interface-missing' end as code,
    'inferred' as certainty,
    component_kind as object_kind,
    component as object_name,
    'the capture does not have it, by ' || manifest_path || ' it should' as message,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from absent
