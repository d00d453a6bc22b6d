/*
description: >
  One row per point of a sweep of vLLM's serving benchmark, and per model that several nodes served. A sweep over request rates is open-loop;
  the concurrency that it states is a cap.
grain: [run_id, artifact_manifest_digest, workload_point, concurrency_point, request_rate_per_s]
feeds: serving_outcome
*/
select
    run_id,
    artifact_manifest_digest,
    case
        when input_length is null and output_length is null then 'all'
        else concat_ws('/', 'isl' || input_length::varchar, 'osl' || output_length::varchar)
    end as workload_point,
    if(request_rate_per_s is null, concurrency, null) as concurrency_point,
    request_rate_per_s,
    'TP' || tensor_parallel::varchar as deployment_model,
    completed_count,
    failed_count,
    failed_count / nullif(completed_count + failed_count, 0) as error_rate,
    ttft_mean_ms,
    ttft_p50_ms,
    ttft_p99_ms,
    tpot_mean_ms,
    tpot_p50_ms,
    tpot_p99_ms,
    itl_mean_ms,
    itl_p50_ms,
    itl_p99_ms,
    request_throughput_per_s,
    output_token_throughput_per_s,
    total_token_throughput_per_s
from aisp_serving_point
