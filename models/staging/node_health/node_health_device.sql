/*
description: >
  One row per file and device of a health check: what a capture shows of it, or what a manifest says that it should be.
grain: [artifact_manifest_digest, raw_path, component_kind, component]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  is_manifest: {type: boolean, description: "Whether it is what should be", tests: [not_null]}
  component_kind: {type: varchar, description: "interface, pci, infiniband", tests: [not_null]}
  component: {type: varchar, description: "Which one", tests: [not_null]}
  operstate: {type: varchar, description: "Of an interface: UP, DOWN"}
  flags: {type: varchar, description: "Its flags, with commas"}
  mtu: {type: double, unit: bytes, description: "MTU"}
  speed: {type: double, unit: Mbit/s, description: "Speed of the link; NULL: not known, as of a link that is down"}
  bond: {type: varchar, description: "The bond that it is a leg of"}
  address: {type: varchar, description: "Its permanent hardware address"}
  is_configured: {type: boolean, description: "Whether the node has a configuration of the interface; NULL: not captured"}
  configured_mtu: {type: double, unit: bytes, description: "MTU by that"}
  configured_bond: {type: varchar, description: "Bond by that"}
  configured_address: {type: varchar, description: "Hardware address by that"}
  link_speed: {type: varchar, description: "Of a PCIe device: speed of its link; in a manifest all that are right, with commas"}
  link_width: {type: double, description: "Lanes of its link"}
  slot: {type: varchar, description: "Its slot"}
  port_state: {type: varchar, description: "Of an InfiniBand device: state of its port, 4: ACTIVE"}
  is_listed: {type: boolean, description: "Whether the kernel lists the interface, or the device has a link", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where in the file", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long", tests: [not_null]}
*/
select
    artifact_manifest_digest,
    raw_path,
    bool_or(is_manifest) as is_manifest,
    component_kind,
    component,
    max(value) filter (where key = 'operstate') as operstate,
    max(value) filter (where key = 'flags') as flags,
    max(value_number) filter (where key = 'mtu') as mtu,
    max(value_number) filter (where key = 'speed' and value_number >= 0) as speed,  -- the kernel's -1: it is not known
    max(value) filter (where key = 'bond') as bond,
    max(lower(value)) filter (where key = 'address') as address,
    bool_or(value = 'true') filter (where key = 'is_configured') as is_configured,
    max(value_number) filter (where key = 'configured_mtu') as configured_mtu,
    max(value) filter (where key = 'configured_bond') as configured_bond,
    max(lower(value)) filter (where key = 'configured_address') as configured_address,
    max(value) filter (where key = 'current_link_speed') as link_speed,
    max(value_number) filter (where key = 'current_link_width') as link_width,
    max(value) filter (where key = 'slot') as slot,
    max(value) filter (where key = 'state') as port_state,
    count(*) filter (where key in ('operstate', 'flags', 'mtu', 'current_link_speed', 'current_link_width', 'state')) > 0 as is_listed,
    min(raw_offset) as raw_offset,
    max(raw_offset + raw_length) - min(raw_offset) as raw_length
from node_health_entry
group by
    artifact_manifest_digest,
    raw_path,
    component_kind,
    component
