/*
description: >
  One row per kernel log whose times are known: from when to when it has lines, and of which node. A log without a fault in that time says that the
  kernel reported none.
grain: [artifact_manifest_digest, raw_path]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  node_name: {type: varchar, description: "The node; NULL: neither the log nor its file's name says"}
  first_at: {type: timestamptz, unit: UTC, description: "Its earliest line", tests: [not_null]}
  last_at: {type: timestamptz, unit: UTC, description: "Its latest line", tests: [not_null]}
*/
select
    artifact_manifest_digest,
    raw_path,
    min(node_name) as node_name,
    min(try_cast(value as timestamptz)) filter (where key = 'first_at') as first_at,
    max(try_cast(value as timestamptz)) filter (where key = 'last_at') as last_at
from node_tool_entry
where
    tool = 'kernel'
    and component_kind = 'log'
group by
    artifact_manifest_digest,
    raw_path
having
    count(try_cast(value as timestamptz)) filter (where key = 'first_at') > 0
    and count(try_cast(value as timestamptz)) filter (where key = 'last_at') > 0
