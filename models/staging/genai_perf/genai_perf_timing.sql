/*
description: >
  One row per request of a raw export or of AIPerf's records, in the same terms. A request of a raw export without
  content has no times, and the export does not state whether it failed.
grain: [run_id, artifact_manifest_digest, point_index, request_index]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  point_index: {type: bigint, description: "Which point of the run", tests: [not_null]}
  request_index: {type: bigint, description: "Place in the file, from 0", tests: [not_null]}
  is_failed: {type: boolean, description: "Whether it brought no answer", tests: [not_null]}
  is_cancelled: {type: boolean, description: "Whether AIPerf stopped waiting for its answer", tests: [not_null]}
  session: {type: varchar, description: "The conversation that it is a turn of"}
  turn_index: {type: bigint, description: "Which turn of it, from 0"}
  error: {type: varchar, description: "The error in the evidence's own words"}
  issued_ns: {type: bigint, unit: ns, description: "When AIPerf's rate limiter or schedule let it go, since the epoch"}
  started_ns: {type: bigint, unit: ns, description: "When it was sent, since the epoch"}
  ended_ns: {type: bigint, unit: ns, description: "When its last response came, since the epoch"}
  ttft_ms: {type: double, unit: ms, description: "Time to first token"}
  tpot_ms: {type: double, unit: ms, description: "Time per output token after the first"}
  itl_mean_ms: {type: double, unit: ms, description: "Time between responses, mean"}
  e2e_ms: {type: double, unit: ms, description: "End-to-end latency"}
  input_token_count: {type: bigint, description: "Input tokens, of a raw export as the server counts them"}
  output_token_count: {type: bigint, description: "Output tokens, of a raw export as the server counts them"}
*/
select
    run_id,
    artifact_manifest_digest,
    point_index,
    request_index,
    first_content_ns is null as is_failed,
    false as is_cancelled,
    case when first_content_ns is null then 'no response with content' end as error,
    cast(null as varchar) as session,
    cast(null as bigint) as turn_index,
    cast(null as bigint) as issued_ns,
    timestamp_ns as started_ns,
    last_response_ns as ended_ns,
    (first_content_ns - timestamp_ns) / 1e6 as ttft_ms,
    case when completion_tokens > 1 then (last_response_ns - first_content_ns) / (completion_tokens - 1) / 1e6 end as tpot_ms,
    case when response_gaps > 0 then (last_response_ns - first_content_ns) / response_gaps / 1e6 end as itl_mean_ms,
    (last_response_ns - timestamp_ns) / 1e6 as e2e_ms,
    prompt_tokens as input_token_count,
    completion_tokens as output_token_count
from genai_perf_request
union all
select
    run_id,
    artifact_manifest_digest,
    point_index,
    request_index,
    error_type is not null as is_failed,
    coalesce(was_cancelled, error_type = 'RequestCancellationError', false) as is_cancelled,
    coalesce(error_message, error_type) as error,
    session,
    turn_index,
    credit_issued_ns as issued_ns,
    request_start_ns as started_ns,
    request_end_ns as ended_ns,
    time_to_first_token_ms as ttft_ms,
    inter_token_latency_ms as tpot_ms,
    cast(null as double) as itl_mean_ms,
    request_latency_ms as e2e_ms,
    input_sequence_length as input_token_count,
    output_sequence_length as output_token_count
from genai_perf_record
