/*
description: >
  One row per benchmark of a report. A statistic whose maximum is 0 was not measured (without streaming, for example).
grain: [run_id, artifact_manifest_digest, workload_point, concurrency_point, request_rate_per_s]
feeds: serving_outcome
*/
select
    benchmark.run_id,
    benchmark.artifact_manifest_digest,
    benchmark.workload_point,
    benchmark.concurrency as concurrency_point,
    benchmark.request_rate_per_s,
    try_cast(stated.completed_count as bigint) as completed_count,
    try_cast(stated.failed_count as bigint) as failed_count,
    case
        when stated.completed_count + stated.failed_count > 0
            then stated.failed_count / (stated.completed_count + stated.failed_count)
    end as error_rate,
    case when stated.completed_count > 0 and stated.ttft_max > 0 then stated.ttft_mean_ms end as ttft_mean_ms,
    case when stated.completed_count > 0 and stated.ttft_max > 0 then stated.ttft_p50_ms end as ttft_p50_ms,
    case when stated.completed_count > 0 and stated.ttft_max > 0 then stated.ttft_p90_ms end as ttft_p90_ms,
    case when stated.completed_count > 0 and stated.ttft_max > 0 then stated.ttft_p95_ms end as ttft_p95_ms,
    case when stated.completed_count > 0 and stated.ttft_max > 0 then stated.ttft_p99_ms end as ttft_p99_ms,
    case when stated.completed_count > 0 and stated.itl_max > 0 then stated.itl_mean_ms end as itl_mean_ms,
    case when stated.completed_count > 0 and stated.itl_max > 0 then stated.itl_p50_ms end as itl_p50_ms,
    case when stated.completed_count > 0 and stated.itl_max > 0 then stated.itl_p90_ms end as itl_p90_ms,
    case when stated.completed_count > 0 and stated.itl_max > 0 then stated.itl_p95_ms end as itl_p95_ms,
    case when stated.completed_count > 0 and stated.itl_max > 0 then stated.itl_p99_ms end as itl_p99_ms,
    case when stated.completed_count > 0 and stated.e2e_max > 0 then stated.e2e_mean_ms end as e2e_mean_ms,
    case when stated.completed_count > 0 and stated.e2e_max > 0 then stated.e2e_p50_ms end as e2e_p50_ms,
    case when stated.completed_count > 0 and stated.e2e_max > 0 then stated.e2e_p90_ms end as e2e_p90_ms,
    case when stated.completed_count > 0 and stated.e2e_max > 0 then stated.e2e_p95_ms end as e2e_p95_ms,
    case when stated.completed_count > 0 and stated.e2e_max > 0 then stated.e2e_p99_ms end as e2e_p99_ms,
    case when stated.completed_count > 0 then request.tpot_mean_ms end as tpot_mean_ms,
    case when stated.completed_count > 0 then request.tpot_p50_ms end as tpot_p50_ms,
    case when stated.completed_count > 0 then request.tpot_p90_ms end as tpot_p90_ms,
    case when stated.completed_count > 0 then request.tpot_p95_ms end as tpot_p95_ms,
    case when stated.completed_count > 0 then request.tpot_p99_ms end as tpot_p99_ms,
    case when stated.completed_count > 0 then stated.request_throughput_per_s end as request_throughput_per_s,
    case when stated.completed_count > 0 then stated.output_token_throughput_per_s end as output_token_throughput_per_s,
    case when stated.completed_count > 0 then stated.total_token_throughput_per_s end as total_token_throughput_per_s
from guidellm_benchmark as benchmark
inner join guidellm_metric as stated
    on
        stated.run_id = benchmark.run_id
        and stated.artifact_manifest_digest = benchmark.artifact_manifest_digest
        and stated.benchmark_index = benchmark.benchmark_index
left join guidellm_request_statistic as request
    on
        request.run_id = benchmark.run_id
        and request.artifact_manifest_digest = benchmark.artifact_manifest_digest
        and request.benchmark_index = benchmark.benchmark_index
