/*
description: >
  One row per span of a trace: what a service did for a request, when, and for how long. A span belongs to the run that it
  states, else to the run on whose pod or node it began while the run ran. With several such runs it belongs to none, and
  is_ambiguous is true.
grain: [artifact_manifest_digest, trace_id, span_id]
collects: trace_span
columns:
  run_id: {type: varchar, description: "The run; NULL: none, or several", feed: false}
  join_method: {type: varchar, description: "How the span was joined to the run: run_id, pod_uid or node", feed: false}
  is_ambiguous: {type: boolean, description: "Whether several runs could be meant", feed: false, tests: [not_null]}
  trace_id: {type: varchar, description: "The trace, hexadecimal", tests: [not_null]}
  span_id: {type: varchar, description: "The span, hexadecimal", tests: [not_null]}
  parent_span_id: {type: varchar, description: "The span that it is a part of; NULL: the root of its trace"}
  name: {type: varchar, description: "What was done"}
  service_name: {type: varchar, description: "Who did it"}
  node_name: {type: varchar, description: "The node, or host"}
  pod_name: {type: varchar, description: "The pod"}
  pod_uid: {type: varchar, description: "Its uid"}
  stated_run_id: {type: varchar, description: "The run that the span or its resource states"}
  request_id: {type: varchar, description: "The request, as the server names it"}
  started_at: {type: timestamptz, unit: UTC, description: "Start"}
  ended_at: {type: timestamptz, unit: UTC, description: "End"}
  duration_ms: {type: double, unit: ms, description: "From start to end"}
  is_error: {type: boolean, description: "Whether it ended in an error"}
  queue_ms: {type: double, unit: ms, description: "Time of the request in the server's queue"}
  ttft_ms: {type: double, unit: ms, description: "Time to the first token, as the server measured it"}
  e2e_ms: {type: double, unit: ms, description: "End-to-end latency, as the server measured it"}
  input_tokens: {type: double, description: "Tokens of the prompt"}
  output_tokens: {type: double, description: "Tokens of the answer"}
  attributes: {type: varchar, description: "All attributes, a JSON object"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The file", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where in it", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long", tests: [not_null]}
*/
with placed as (
    select
        place.run_id,
        place.node_name,
        place.pod_uid,
        win.window_start,
        win.window_end
    from run_node as place
    inner join run_window as win
        on
            win.run_id = place.run_id
            and win.window_kind = 'run'
),

candidate as (
    select
        span.artifact_manifest_digest,
        span.trace_id,
        span.span_id,
        placed.run_id,
        if(placed.pod_uid = span.pod_uid, 1, 2) as strength
    from feed.trace_span as span
    inner join placed
        on
            (placed.pod_uid = span.pod_uid or lower(placed.node_name) = lower(span.node_name))
            and span.started_at >= placed.window_start
            and span.started_at < placed.window_end
    where span.stated_run_id is null
),

strongest as (
    select
        artifact_manifest_digest,
        trace_id,
        span_id,
        min(strength) as strength
    from candidate
    group by
        artifact_manifest_digest,
        trace_id,
        span_id
),

joined as (
    select
        candidate.artifact_manifest_digest,
        candidate.trace_id,
        candidate.span_id,
        min(candidate.run_id) as run_id,
        count(distinct candidate.run_id) as run_count,
        min(candidate.strength) as strength
    from candidate
    inner join strongest
        on
            strongest.artifact_manifest_digest = candidate.artifact_manifest_digest
            and strongest.trace_id = candidate.trace_id
            and strongest.span_id = candidate.span_id
            and strongest.strength = candidate.strength
    group by
        candidate.artifact_manifest_digest,
        candidate.trace_id,
        candidate.span_id
),

stated as (
    select distinct run_id
    from run_bundle
)

select
    coalesce(stated.run_id, if(joined.run_count = 1, joined.run_id, null)) as run_id,
    case
        when stated.run_id is not null then 'run_id'
        when joined.run_count = 1 and joined.strength = 1 then 'pod_uid'
        when joined.run_count = 1 then 'node'
    end as join_method,
    coalesce(joined.run_count > 1, false) as is_ambiguous,
    span.*
from feed.trace_span as span
left join stated
    on stated.run_id = span.stated_run_id
left join joined
    on
        joined.artifact_manifest_digest = span.artifact_manifest_digest
        and joined.trace_id = span.trace_id
        and joined.span_id = span.span_id
