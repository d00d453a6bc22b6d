/*
description: >
  One row per request of a detailed record, at the only workload point of its run.
grain: [run_id, artifact_manifest_digest, request_index]
feeds: request
retention_tier: warm
*/
select
    request.run_id,
    request.artifact_manifest_digest,
    run.workload_point,
    run.max_concurrency as concurrency_point,
    run.request_rate_per_s,
    request.request_index,
    request.status,
    request.error,
    request.started_s,
    request.ttft_ms,
    request.tpot_ms,
    request.itl_mean_ms,
    request.e2e_ms,
    request.input_token_count,
    request.output_token_count,
    request.output_token_throughput_per_s
from bench_serving_request as request
inner join bench_serving_run as run
    on
        run.run_id = request.run_id
        and run.artifact_manifest_digest = request.artifact_manifest_digest
