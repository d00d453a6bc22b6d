/*
description: >
  One row per stage of a run. A stage with a set concurrency is a closed loop, and its requested rate only follows
  from it.
grain: [run_id, artifact_manifest_digest, workload_point]
feeds: serving_outcome
*/
select
    point.run_id,
    point.artifact_manifest_digest,
    point.point as workload_point,
    try_cast(metric.concurrency as bigint) as concurrency_point,
    case when metric.concurrency is null then metric.requested_rate_per_s end as request_rate_per_s,
    try_cast(metric.completed_count as bigint) as completed_count,
    try_cast(metric.failed_count as bigint) as failed_count,
    case
        when metric.completed_count + metric.failed_count > 0
            then metric.failed_count / (metric.completed_count + metric.failed_count)
    end as error_rate,
    case when metric.completed_count > 0 then metric.ttft_mean_ms end as ttft_mean_ms,
    case when metric.completed_count > 0 then metric.ttft_p50_ms end as ttft_p50_ms,
    case when metric.completed_count > 0 then metric.ttft_p90_ms end as ttft_p90_ms,
    case when metric.completed_count > 0 then metric.ttft_p95_ms end as ttft_p95_ms,
    case when metric.completed_count > 0 then metric.ttft_p99_ms end as ttft_p99_ms,
    case when metric.completed_count > 0 then metric.tpot_mean_ms end as tpot_mean_ms,
    case when metric.completed_count > 0 then metric.tpot_p50_ms end as tpot_p50_ms,
    case when metric.completed_count > 0 then metric.tpot_p90_ms end as tpot_p90_ms,
    case when metric.completed_count > 0 then metric.tpot_p95_ms end as tpot_p95_ms,
    case when metric.completed_count > 0 then metric.tpot_p99_ms end as tpot_p99_ms,
    case when metric.completed_count > 0 then metric.itl_mean_ms end as itl_mean_ms,
    case when metric.completed_count > 0 then metric.itl_p50_ms end as itl_p50_ms,
    case when metric.completed_count > 0 then metric.itl_p90_ms end as itl_p90_ms,
    case when metric.completed_count > 0 then metric.itl_p95_ms end as itl_p95_ms,
    case when metric.completed_count > 0 then metric.itl_p99_ms end as itl_p99_ms,
    case when metric.completed_count > 0 then metric.e2e_mean_ms end as e2e_mean_ms,
    case when metric.completed_count > 0 then metric.e2e_p50_ms end as e2e_p50_ms,
    case when metric.completed_count > 0 then metric.e2e_p90_ms end as e2e_p90_ms,
    case when metric.completed_count > 0 then metric.e2e_p95_ms end as e2e_p95_ms,
    case when metric.completed_count > 0 then metric.e2e_p99_ms end as e2e_p99_ms,
    case when metric.completed_count > 0 then metric.request_throughput_per_s end as request_throughput_per_s,
    case when metric.completed_count > 0 then metric.output_token_throughput_per_s end as output_token_throughput_per_s,
    case when metric.completed_count > 0 then metric.total_token_throughput_per_s end as total_token_throughput_per_s,
    case when metric.completed_count > 0 then metric.queueing_delay_ms end as queueing_delay_ms
from inference_perf_point as point
inner join inference_perf_metric as metric
    on
        metric.run_id = point.run_id
        and metric.artifact_manifest_digest = point.artifact_manifest_digest
        and metric.point = point.point
