/*
description: >
  One row per run: the summary's statistics, or those of the requests if the summary has none.
grain: [run_id, artifact_manifest_digest]
feeds: serving_outcome
*/
with outcome as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        run.workload_document,
        coalesce(try_cast(stated.completed_count as bigint), request.completed_count) as completed_count,
        coalesce(try_cast(stated.failed_count as bigint), request.failed_count) as failed_count
    from llmperf_run as run
    left join llmperf_metric as stated
        on
            stated.run_id = run.run_id
            and stated.artifact_manifest_digest = run.artifact_manifest_digest
    left join llmperf_request_statistic as request
        on
            request.run_id = run.run_id
            and request.artifact_manifest_digest = run.artifact_manifest_digest
)

select
    outcome.run_id,
    outcome.artifact_manifest_digest,
    coalesce(
        'isl' || json_extract_string(outcome.workload_document, '$.mean_input_tokens')
        || '-osl' || json_extract_string(outcome.workload_document, '$.mean_output_tokens'),
        'unstated'
    ) as workload_point,
    try_cast(json_extract_string(outcome.workload_document, '$.num_concurrent_requests') as bigint) as concurrency_point,
    outcome.completed_count,
    outcome.failed_count,
    case
        when outcome.completed_count + outcome.failed_count > 0
            then outcome.failed_count / (outcome.completed_count + outcome.failed_count)
    end as error_rate,
    case when outcome.completed_count > 0 then coalesce(stated.ttft_mean_ms, request.ttft_mean_ms) end as ttft_mean_ms,
    case when outcome.completed_count > 0 then coalesce(stated.ttft_p50_ms, request.ttft_p50_ms) end as ttft_p50_ms,
    case when outcome.completed_count > 0 then coalesce(stated.ttft_p90_ms, request.ttft_p90_ms) end as ttft_p90_ms,
    case when outcome.completed_count > 0 then coalesce(stated.ttft_p95_ms, request.ttft_p95_ms) end as ttft_p95_ms,
    case when outcome.completed_count > 0 then coalesce(stated.ttft_p99_ms, request.ttft_p99_ms) end as ttft_p99_ms,
    case when outcome.completed_count > 0 then request.tpot_mean_ms end as tpot_mean_ms,
    case when outcome.completed_count > 0 then request.tpot_p50_ms end as tpot_p50_ms,
    case when outcome.completed_count > 0 then request.tpot_p90_ms end as tpot_p90_ms,
    case when outcome.completed_count > 0 then request.tpot_p95_ms end as tpot_p95_ms,
    case when outcome.completed_count > 0 then request.tpot_p99_ms end as tpot_p99_ms,
    case when outcome.completed_count > 0 then coalesce(stated.e2e_mean_ms, request.e2e_mean_ms) end as e2e_mean_ms,
    case when outcome.completed_count > 0 then coalesce(stated.e2e_p50_ms, request.e2e_p50_ms) end as e2e_p50_ms,
    case when outcome.completed_count > 0 then coalesce(stated.e2e_p90_ms, request.e2e_p90_ms) end as e2e_p90_ms,
    case when outcome.completed_count > 0 then coalesce(stated.e2e_p95_ms, request.e2e_p95_ms) end as e2e_p95_ms,
    case when outcome.completed_count > 0 then coalesce(stated.e2e_p99_ms, request.e2e_p99_ms) end as e2e_p99_ms,
    case when outcome.completed_count > 0 then stated.completed_per_min / 60 end as request_throughput_per_s,
    case when outcome.completed_count > 0 then stated.output_token_throughput_per_s end as output_token_throughput_per_s
from outcome
left join llmperf_metric as stated
    on
        stated.run_id = outcome.run_id
        and stated.artifact_manifest_digest = outcome.artifact_manifest_digest
left join llmperf_request_statistic as request
    on
        request.run_id = outcome.run_id
        and request.artifact_manifest_digest = outcome.artifact_manifest_digest
