/*
description: >
  One row per request of a run of trtllm-bench. Its clock has no date. Only with --streaming there is a time to the first
  token. A request that --duration cut off did not end.
grain: [run_id, artifact_manifest_digest, request_index]
feeds: request
retention_tier: warm
*/
select
    request.run_id,
    request.artifact_manifest_digest,
    run.workload_point,
    request.request_index,
    case when request.error_tokens > 0 then 'failed' when request.end_ns is null then 'unfinished' else 'succeeded' end as status,
    (
        request.start_ns - min(request.start_ns) over (partition by request.run_id, request.artifact_manifest_digest)
    ) / 1e9 as started_s,
    (request.first_token_ns - request.start_ns) / 1e6 as ttft_ms,
    case when request.output_tokens > 1 then (request.end_ns - request.first_token_ns) / (request.output_tokens - 1) / 1e6 end as tpot_ms,
    (request.end_ns - request.start_ns) / 1e6 as e2e_ms,
    request.input_tokens as input_token_count,
    request.output_tokens as output_token_count,
    request.output_tokens / nullif((request.end_ns - request.start_ns) / 1e9, 0) as output_token_throughput_per_s
from trtllm_bench_request as request
inner join trtllm_bench_run as run
    on
        run.run_id = request.run_id
        and run.artifact_manifest_digest = request.artifact_manifest_digest
