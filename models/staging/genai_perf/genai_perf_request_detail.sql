/*
description: >
  One row per request of a raw export or of AIPerf's records. The token counts of a raw export are the server's own.
  genai-perf's summary counts with a tokenizer that its user chose, and may differ. AIPerf lets a request go when its
  rate or its fixed schedule says so, unless a limit of concurrency holds it back: then, and in a closed loop, the
  moment is no schedule. A request that AIPerf cancelled (--request-cancellation-rate) is unfinished.
grain: [run_id, artifact_manifest_digest, workload_point, concurrency_point, request_rate_per_s, request_index]
feeds: request
retention_tier: warm
*/
select
    request.run_id,
    request.artifact_manifest_digest,
    coalesce(
        'isl' || json_extract_string(run.workload_document, '$.isl') || '-osl' || json_extract_string(run.workload_document, '$.osl'),
        json_extract_string(run.workload_document, '$.endpoint_type'),
        'unstated'
    ) as workload_point,
    point.concurrency as concurrency_point,
    point.request_rate_per_s,
    request.request_index,
    case when request.is_cancelled then 'unfinished' when request.is_failed then 'failed' else 'succeeded' end as status,
    request.error,
    request.session,
    request.turn_index,
    case
        when
            point.concurrency is null
            and json_extract_string(run.workload_document, '$.prefill_concurrency') is null
            and (
                json_extract_string(run.workload_document, '$.arrival') in ('constant', 'poisson', 'gamma', 'fixed_schedule')
                or json_extract_string(run.workload_document, '$.fixed_schedule') = 'true'
                or (json_extract_string(run.workload_document, '$.arrival') is null and point.request_rate_per_s is not null)
            )
            then (request.issued_ns - statistic.started_ns) / 1e9
    end as scheduled_s,
    (request.started_ns - statistic.started_ns) / 1e9 as started_s,
    request.ttft_ms,
    request.tpot_ms,
    request.itl_mean_ms,
    request.e2e_ms,
    request.input_token_count,
    request.output_token_count,
    request.output_token_count / nullif(request.e2e_ms / 1000, 0) as output_token_throughput_per_s
from genai_perf_timing as request
inner join genai_perf_run as run
    on
        run.run_id = request.run_id
        and run.artifact_manifest_digest = request.artifact_manifest_digest
inner join genai_perf_point as point
    on
        point.run_id = request.run_id
        and point.artifact_manifest_digest = request.artifact_manifest_digest
        and point.point_index = request.point_index
inner join genai_perf_timing_statistic as statistic
    on
        statistic.run_id = request.run_id
        and statistic.artifact_manifest_digest = request.artifact_manifest_digest
        and statistic.point_index = request.point_index
