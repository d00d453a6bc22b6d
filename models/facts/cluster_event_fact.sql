/*
description: >
  One row per event of a cluster: what a scheduler, a node or a GPU reported, and what a capture shows to be wrong. The class is
  that of staging.cluster_event_class, unless a source classes its events itself. An event of which only the age is stated has no time.
grain: [source, artifact_manifest_digest, raw_path, raw_offset, code, object_name, gpu_uuid, event_at]
collects: cluster_event
columns:
  source: {type: varchar, description: "kubernetes, kueue, slurm, node_health, nvidia_smi, dcgm, kernel, dcgmi_diag, dcgmi_health, nvlink, lspci, ibdiagnet", tests: [not_null]}
  event_class: {type: varchar, description: "What kind of event it is, whoever reports it", tests: [not_null]}
  code: {type: varchar, description: "The source's reason, state or check", tests: [not_null]}
  severity: {type: varchar, description: "error: work was lost or cannot go on; warning: slower, or about to fail; info: what normally happens", tests: [not_null, {accepted_values: [error, warning, info]}]}
  certainty: {type: varchar, description: "stated: the evidence says so; inferred: it follows from a comparison", tests: [not_null, {accepted_values: [stated, inferred]}]}
  event_at: {type: timestamptz, unit: UTC, description: "When it happened, of a repeated event first; NULL: not stated"}
  first_seen_at: {type: timestamptz, unit: UTC, description: "First occurrence"}
  last_seen_at: {type: timestamptz, unit: UTC, description: "Last occurrence; of a state when it was last confirmed"}
  is_zone_assumed: {type: boolean, description: "Whether the times' zone was assumed"}
  count: {type: bigint, description: "Occurrences; NULL: not stated"}
  age_text: {type: varchar, description: "Ages in place of times, as listed: 56m (since 58m)"}
  node_name: {type: varchar, description: "The node"}
  gpu_uuid: {type: varchar, description: "The GPU"}
  pod_uid: {type: varchar, description: "The pod"}
  pod_name: {type: varchar, description: "Its name"}
  namespace: {type: varchar, description: "Its namespace"}
  object_kind: {type: varchar, description: "What the event is about: Pod, Node, Job, interface, pci"}
  object_name: {type: varchar, description: "Which one"}
  object_id: {type: varchar, description: "Its uid; of Slurm the job's number"}
  message: {type: varchar, description: "In the source's words"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where in it", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long", tests: [not_null]}
*/
select
    event.source,
    coalesce(event.event_class, known.event_class, 'other') as event_class,
    event.code,
    coalesce(event.severity, known.severity, 'info') as severity,
    event.certainty,
    event.event_at,
    event.first_seen_at,
    event.last_seen_at,
    event.is_zone_assumed,
    event.count,
    event.age_text,
    event.node_name,
    event.gpu_uuid,
    event.pod_uid,
    event.pod_name,
    event.namespace,
    event.object_kind,
    event.object_name,
    event.object_id,
    event.message,
    event.artifact_manifest_digest,
    event.raw_path,
    event.raw_offset,
    event.raw_length
from feed.cluster_event as event
left join cluster_event_class as known
    on
        known.source = event.source
        and known.code = event.code
