/*
description: >
  One row per run and point: the summary's statistics, or those of the requests if the summary has none. genai-perf
  and perf_analyzer do not count failed requests, so the count of failures and the error rate are NULL. AIPerf counts
  and lists errors, and leaves out metrics that no request has: if it counts failed requests, but states neither
  completed ones nor a latency, no request was completed. The power of the accelerators is that of the InferenceX
  record that restates the run, if it states that it is valid.
grain: [run_id, artifact_manifest_digest, workload_point, concurrency_point, request_rate_per_s]
feeds: serving_outcome
*/
with error_list as (
    select
        run_id,
        artifact_manifest_digest,
        bool_or(key = 'error_summary' and value = '[]') as has_no_errors
    from genai_perf_entry
    group by
        run_id,
        artifact_manifest_digest
),

counted as (
    select
        point.run_id,
        point.artifact_manifest_digest,
        point.point_index,
        coalesce(
            try_cast(stated.request_count as bigint),
            request.completed_count,
            case when run.tool = 'aiperf' and stated.error_request_count > 0 and stated.e2e_mean_ms is null then 0 end
        ) as completed_count,
        case
            when run.tool = 'aiperf'
                then coalesce(
                    try_cast(stated.error_request_count as bigint),
                    request.failed_count,
                    case when error_list.has_no_errors then 0 end
                )
        end as failed_count
    from genai_perf_point as point
    inner join genai_perf_run as run
        on
            run.run_id = point.run_id
            and run.artifact_manifest_digest = point.artifact_manifest_digest
    left join genai_perf_metric as stated
        on
            stated.run_id = point.run_id
            and stated.artifact_manifest_digest = point.artifact_manifest_digest
            and point.has_summary
    left join genai_perf_timing_statistic as request
        on
            request.run_id = point.run_id
            and request.artifact_manifest_digest = point.artifact_manifest_digest
            and request.point_index = point.point_index
    left join error_list
        on
            error_list.run_id = point.run_id
            and error_list.artifact_manifest_digest = point.artifact_manifest_digest
),

point as (
    select
        point.*,
        counted.completed_count,
        counted.failed_count,
        coalesce(counted.completed_count, 1) > 0 as has_outcome
    from genai_perf_point as point
    inner join counted
        on
            counted.run_id = point.run_id
            and counted.artifact_manifest_digest = point.artifact_manifest_digest
            and counted.point_index = point.point_index
)

select
    point.run_id,
    point.artifact_manifest_digest,
    coalesce(
        'isl' || json_extract_string(run.workload_document, '$.isl') || '-osl' || json_extract_string(run.workload_document, '$.osl'),
        json_extract_string(run.workload_document, '$.endpoint_type'),
        'unstated'
    ) as workload_point,
    point.concurrency as concurrency_point,
    point.request_rate_per_s,
    coalesce(deployment.split_deployment, nullif(concat_ws(
        ' ', 'TP' || deployment.tensor_parallel, 'DP' || deployment.data_parallel, 'PP' || deployment.pipeline_parallel,
        'EP' || deployment.expert_parallel
    ), '')) as deployment_model,
    point.completed_count,
    point.failed_count,
    case
        when point.completed_count + point.failed_count > 0
            then point.failed_count / (point.completed_count + point.failed_count)
    end as error_rate,
    case when point.has_outcome then coalesce(stated.ttft_mean_ms, request.ttft_mean_ms) end as ttft_mean_ms,
    case when point.has_outcome then coalesce(stated.ttft_p50_ms, request.ttft_p50_ms) end as ttft_p50_ms,
    case when point.has_outcome then coalesce(stated.ttft_p90_ms, request.ttft_p90_ms) end as ttft_p90_ms,
    case when point.has_outcome then coalesce(stated.ttft_p95_ms, request.ttft_p95_ms) end as ttft_p95_ms,
    case when point.has_outcome then coalesce(stated.ttft_p99_ms, request.ttft_p99_ms) end as ttft_p99_ms,
    case when point.has_outcome then coalesce(stated.tpot_mean_ms, request.tpot_mean_ms) end as tpot_mean_ms,
    case when point.has_outcome then coalesce(stated.tpot_p50_ms, request.tpot_p50_ms) end as tpot_p50_ms,
    case when point.has_outcome then coalesce(stated.tpot_p90_ms, request.tpot_p90_ms) end as tpot_p90_ms,
    case when point.has_outcome then coalesce(stated.tpot_p95_ms, request.tpot_p95_ms) end as tpot_p95_ms,
    case when point.has_outcome then coalesce(stated.tpot_p99_ms, request.tpot_p99_ms) end as tpot_p99_ms,
    case when point.has_outcome then stated.itl_mean_ms end as itl_mean_ms,
    case when point.has_outcome then stated.itl_p50_ms end as itl_p50_ms,
    case when point.has_outcome then stated.itl_p90_ms end as itl_p90_ms,
    case when point.has_outcome then stated.itl_p95_ms end as itl_p95_ms,
    case when point.has_outcome then stated.itl_p99_ms end as itl_p99_ms,
    case when point.has_outcome then coalesce(stated.e2e_mean_ms, request.e2e_mean_ms) end as e2e_mean_ms,
    case when point.has_outcome then coalesce(stated.e2e_p50_ms, request.e2e_p50_ms) end as e2e_p50_ms,
    case when point.has_outcome then coalesce(stated.e2e_p90_ms, request.e2e_p90_ms) end as e2e_p90_ms,
    case when point.has_outcome then coalesce(stated.e2e_p95_ms, request.e2e_p95_ms) end as e2e_p95_ms,
    case when point.has_outcome then coalesce(stated.e2e_p99_ms, request.e2e_p99_ms) end as e2e_p99_ms,
    case when point.has_outcome then stated.itl_std_ms end as jitter_ms,
    case when point.has_outcome and deployment.is_power_valid and deployment.accelerator_power_w > 0 then deployment.accelerator_power_w end as accelerator_power_w,
    case
        when point.has_outcome and deployment.is_power_valid and deployment.accelerator_energy_per_output_token_j > 0
            then deployment.accelerator_energy_per_output_token_j
    end as accelerator_energy_per_output_token_j,
    case
        when point.has_outcome
            then coalesce(
                stated.request_throughput_per_s,
                request.completed_count / nullif((request.ended_ns - request.started_ns) / 1e9, 0)
            )
    end as request_throughput_per_s,
    case when point.has_outcome then stated.output_token_throughput_per_s end as output_token_throughput_per_s,
    case when point.has_outcome then stated.total_token_throughput_per_s end as total_token_throughput_per_s,
    deployment.implied_accelerator_count,
    deployment.accelerator_count_ratio
from point
inner join genai_perf_run as run
    on
        run.run_id = point.run_id
        and run.artifact_manifest_digest = point.artifact_manifest_digest
left join genai_perf_metric as stated
    on
        stated.run_id = point.run_id
        and stated.artifact_manifest_digest = point.artifact_manifest_digest
        and point.has_summary
left join genai_perf_timing_statistic as request
    on
        request.run_id = point.run_id
        and request.artifact_manifest_digest = point.artifact_manifest_digest
        and request.point_index = point.point_index
left join genai_perf_deployment as deployment
    on
        deployment.run_id = point.run_id
        and deployment.artifact_manifest_digest = point.artifact_manifest_digest
