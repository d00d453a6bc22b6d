/*
description: >
  One row per pair of devices of a node and how they reach each other, as `nvidia-smi topo -m` has it, without pairs with themselves.
grain: [artifact_manifest_digest, raw_path, raw_offset, device, peer]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where in it", tests: [not_null]}
  node_name: {type: varchar, description: "The node; NULL: the file's name does not say"}
  device: {type: varchar, description: "GPU0, NIC0, mlx5_0", tests: [not_null]}
  peer: {type: varchar, description: "The other device", tests: [not_null]}
  path: {type: varchar, description: "NVIDIA's word: NV#, PIX, PXB, PHB, NODE, SYS", tests: [not_null]}
  nvlinks: {type: bigint, description: "How many NVLinks are bonded; NULL: the path is not NVLink"}
*/
select
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    node_name,
    split_part(component, ' ', 1) as device,
    split_part(component, ' ', 2) as peer,
    value as path,
    try_cast(nullif(regexp_extract(value, '^NV([0-9]+)$', 1), '') as bigint) as nvlinks
from node_tool_entry
where
    tool = 'nvidia_topo'
    and component_kind = 'link'
    and value is not null
