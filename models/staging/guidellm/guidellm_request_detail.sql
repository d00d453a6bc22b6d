/*
description: >
  One row per request. A request that the end of the benchmark cut off is unfinished. The strategies of an arrival rate
  set a time for each request in advance. Those of a closed loop send a request when another one ends, and are no schedule.
grain: [run_id, artifact_manifest_digest, workload_point, concurrency_point, request_rate_per_s, request_index]
feeds: request
retention_tier: warm
*/
with clock as (
    select
        run_id,
        artifact_manifest_digest,
        benchmark_index,
        min(start_time_s) as first_start_s
    from guidellm_request
    group by
        run_id,
        artifact_manifest_digest,
        benchmark_index
)

select
    request.run_id,
    request.artifact_manifest_digest,
    benchmark.workload_point,
    benchmark.concurrency as concurrency_point,
    benchmark.request_rate_per_s,
    request.request_index,
    case request.status when 'successful' then 'succeeded' when 'incomplete' then 'unfinished' else 'failed' end as status,
    case when request.status = 'errored' then coalesce(request.error, request.status) else request.error end as error,
    case when benchmark.request_rate_per_s is not null then request.targeted_start_s - clock.first_start_s end as scheduled_s,
    request.start_time_s - clock.first_start_s as started_s,
    request.time_to_first_token_ms as ttft_ms,
    case when request.output_tokens > 1 then request.inter_token_latency_ms end as tpot_ms,
    case when request.output_tokens > 1 then request.inter_token_latency_ms end as itl_mean_ms,
    request.request_latency_s * 1000 as e2e_ms,
    request.prompt_tokens as input_token_count,
    request.output_tokens as output_token_count,
    request.output_tokens / nullif(request.request_latency_s, 0) as output_token_throughput_per_s,
    request.output_tokens_per_second as stated_output_token_throughput_per_s
from guidellm_request as request
inner join guidellm_benchmark as benchmark
    on
        benchmark.run_id = request.run_id
        and benchmark.artifact_manifest_digest = request.artifact_manifest_digest
        and benchmark.benchmark_index = request.benchmark_index
inner join clock
    on
        clock.run_id = request.run_id
        and clock.artifact_manifest_digest = request.artifact_manifest_digest
        and clock.benchmark_index = request.benchmark_index
