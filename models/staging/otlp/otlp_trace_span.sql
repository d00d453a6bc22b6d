/*
description: >
  One row per span of a trace. Of a served request's span, latencies and tokens are those of the semantic conventions for
  generative AI, as vLLM and others set them, in seconds.
grain: [artifact_manifest_digest, trace_id, span_id]
feeds: trace_span
*/
with span as (
    select distinct on (artifact_manifest_digest, trace_id, span_id) *
    from otlp_span
    order by
        artifact_manifest_digest,
        trace_id,
        span_id,
        raw_path,
        raw_offset
)

select
    trace_id,
    span_id,
    parent_span_id,
    name,
    resource ->> '$."service.name"' as service_name,
    coalesce(resource ->> '$."k8s.node.name"', resource ->> '$."host.name"') as node_name,
    resource ->> '$."k8s.pod.name"' as pod_name,
    resource ->> '$."k8s.pod.uid"' as pod_uid,
    coalesce(attributes ->> '$."benchmark.run_id"', resource ->> '$."benchmark.run_id"') as stated_run_id,
    attributes ->> '$."gen_ai.request.id"' as request_id,
    started_at,
    ended_at,
    duration_ns / 1e6 as duration_ms,
    status in ('2', 'STATUS_CODE_ERROR') as is_error,
    try_cast(attributes ->> '$."gen_ai.latency.time_in_queue"' as double) * 1e3 as queue_ms,
    try_cast(attributes ->> '$."gen_ai.latency.time_to_first_token"' as double) * 1e3 as ttft_ms,
    try_cast(attributes ->> '$."gen_ai.latency.e2e"' as double) * 1e3 as e2e_ms,
    try_cast(coalesce(attributes ->> '$."gen_ai.usage.input_tokens"', attributes ->> '$."gen_ai.usage.prompt_tokens"') as double) as input_tokens,
    try_cast(coalesce(attributes ->> '$."gen_ai.usage.output_tokens"', attributes ->> '$."gen_ai.usage.completion_tokens"') as double) as output_tokens,
    attributes,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from span
