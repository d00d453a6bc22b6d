/*
description: >
  One row per request. The report does not name a request's stage: it is the stage between whose first and last start
  the request began.
grain: [run_id, artifact_manifest_digest, request_index]
feeds: request
retention_tier: warm
*/
select
    request.run_id,
    request.artifact_manifest_digest,
    coalesce(point.point, 'stage unknown') as workload_point,
    outcome.concurrency_point,
    outcome.request_rate_per_s,
    request.request_index,
    case when request.error_type is null then 'succeeded' else 'failed' end as status,
    coalesce(request.error_msg, request.error_type) as error,
    request.start_time_s - min(request.start_time_s) over (
        partition by request.run_id, request.artifact_manifest_digest, point.point
    ) as started_s,
    case when request.token_times > 1 then (request.first_token_s - request.start_time_s) * 1000 end as ttft_ms,
    case
        when request.output_tokens > 1
            then (request.last_token_s - request.first_token_s) / (request.output_tokens - 1) * 1000
    end as tpot_ms,
    case
        when request.token_times > 1
            then (request.last_token_s - request.first_token_s) / (request.token_times - 1) * 1000
    end as itl_mean_ms,
    (request.end_time_s - request.start_time_s) * 1000 as e2e_ms,
    request.input_tokens as input_token_count,
    request.output_tokens as output_token_count,
    request.output_tokens / nullif(request.end_time_s - request.start_time_s, 0) as output_token_throughput_per_s
from inference_perf_request as request
left join inference_perf_point as point
    on
        point.run_id = request.run_id
        and point.artifact_manifest_digest = request.artifact_manifest_digest
        and request.start_time_s between point.requests_from_s and point.requests_to_s
left join inference_perf_serving_outcome as outcome
    on
        outcome.run_id = point.run_id
        and outcome.artifact_manifest_digest = point.artifact_manifest_digest
        and outcome.workload_point = point.point
