/*
description: >
  One row per capture and device that it should have, by the manifest of its folder that fits it best: the one most of whose devices the
  capture has, PCIe devices with the link that they should have. A manifest fits only if that is at least half of them, and if no other
  manifest fits as well. Only kinds of devices that the
  capture is about are expected: files of /sys may be of a few interfaces only.
grain: [artifact_manifest_digest, raw_path, component_kind, component]
columns:
  artifact_manifest_digest: {tests: [not_null]}
  raw_path: {type: varchar, description: "The capture", tests: [not_null]}
  manifest_path: {type: varchar, description: "The manifest", tests: [not_null]}
  component_kind: {tests: [not_null]}
  component: {tests: [not_null]}
  flags: {type: varchar, description: "Flags that it should have, with commas"}
  mtu: {type: double, unit: bytes, description: "MTU that it should have"}
  speed: {type: double, unit: Mbit/s, description: "Speed that it should have"}
  link_speed: {type: varchar, description: "Speeds of its PCIe link that are right, with commas"}
  link_width: {type: double, description: "Lanes that it should have"}
  raw_offset: {type: bigint, unit: bytes, description: "Where the capture states its first device of the kind", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "To the end of its last", tests: [not_null]}
*/
with captured as (
    select
        artifact_manifest_digest,
        raw_path,
        component_kind,
        min(raw_offset) as raw_offset,
        max(raw_offset + raw_length) - min(raw_offset) as raw_length
    from node_health_device
    where not is_manifest
    group by
        artifact_manifest_digest,
        raw_path,
        component_kind
    having component_kind <> 'interface' or count(flags) > 0
),

pair as (
    select
        captured.artifact_manifest_digest,
        captured.raw_path,
        captured.raw_offset,
        captured.raw_length,
        expected.raw_path as manifest_path,
        expected.component_kind,
        expected.component,
        expected.flags,
        expected.mtu,
        expected.speed,
        expected.link_speed,
        expected.link_width,
        expected.slot,
        coalesce(
            device.component is not null
            and (
                expected.component_kind <> 'pci'
                or (
                    device.link_width = expected.link_width
                    and list_contains(string_split(expected.link_speed, ','), device.link_speed)
                )
            ),
            false
        ) as fits
    from captured
    inner join node_health_device as expected
        on
            expected.artifact_manifest_digest = captured.artifact_manifest_digest
            and expected.component_kind = captured.component_kind
            and expected.is_manifest
    left join node_health_device as device
        on
            device.artifact_manifest_digest = captured.artifact_manifest_digest
            and device.raw_path = captured.raw_path
            and device.component_kind = expected.component_kind
            and device.component = expected.component
            and not device.is_manifest
),

fitting as (
    select
        artifact_manifest_digest,
        raw_path,
        manifest_path,
        avg(fits::int) as share
    from pair
    group by
        artifact_manifest_digest,
        raw_path,
        manifest_path
),

best as (
    select
        artifact_manifest_digest,
        raw_path,
        max(share) as share
    from fitting
    group by
        artifact_manifest_digest,
        raw_path
),

chosen as (
    select
        fitting.artifact_manifest_digest,
        fitting.raw_path,
        min(fitting.manifest_path) as manifest_path
    from fitting
    inner join best
        on
            best.artifact_manifest_digest = fitting.artifact_manifest_digest
            and best.raw_path = fitting.raw_path
            and best.share = fitting.share
    where fitting.share >= 0.5
    group by
        fitting.artifact_manifest_digest,
        fitting.raw_path
    having count(*) = 1
)

select
    pair.artifact_manifest_digest,
    pair.raw_path,
    pair.manifest_path,
    pair.component_kind,
    pair.component,
    pair.flags,
    pair.mtu,
    pair.speed,
    pair.link_speed,
    pair.link_width,
    pair.slot,
    pair.raw_offset,
    pair.raw_length
from pair
inner join chosen
    on
        chosen.artifact_manifest_digest = pair.artifact_manifest_digest
        and chosen.raw_path = pair.raw_path
        and chosen.manifest_path = pair.manifest_path
