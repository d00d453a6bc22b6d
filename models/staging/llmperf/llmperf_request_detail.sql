/*
description: >
  One row per request. The throughput is computed from tokens and time, because the field of that name is wrong for
  some providers; the field's value is kept beside it.
grain: [run_id, artifact_manifest_digest, request_index]
feeds: request
retention_tier: warm
*/
select
    request.run_id,
    request.artifact_manifest_digest,
    outcome.workload_point,
    outcome.concurrency_point,
    request.request_index,
    case when request.error_code is null then 'succeeded' else 'failed' end as status,
    case when request.error_code is not null then coalesce(request.error_msg, request.error_code) end as error,
    request.started_s,
    request.ttft_s * 1000 as ttft_ms,
    case
        when request.number_output_tokens > 1
            then (request.end_to_end_latency_s - request.ttft_s) / (request.number_output_tokens - 1) * 1000
    end as tpot_ms,
    request.end_to_end_latency_s * 1000 as e2e_ms,
    request.number_input_tokens as input_token_count,
    request.number_output_tokens as output_token_count,
    request.number_output_tokens / nullif(request.end_to_end_latency_s, 0) as output_token_throughput_per_s,
    request.request_output_throughput_token_per_s as stated_output_token_throughput_per_s
from llmperf_request as request
inner join llmperf_serving_outcome as outcome
    on
        outcome.run_id = request.run_id
        and outcome.artifact_manifest_digest = request.artifact_manifest_digest
