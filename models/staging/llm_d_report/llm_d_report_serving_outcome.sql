/*
description: >
  One row per report. Requests that had not ended when the benchmark did are neither completed nor failed. If the
  counts of unfinished or failed requests exceed the total, the number of completed requests is not known. Version 0.1
  has the unit of a throughput in its key, version 0.2 beside it.
grain: [run_id, artifact_manifest_digest]
feeds: serving_outcome
*/
with counted as (
    select
        run_id,
        artifact_manifest_digest,
        max(value_number) filter (where regexp_matches(key, '^(metrics|results/request_performance/aggregate)/requests/total$'))
        - coalesce(max(value_number) filter (
            where regexp_matches(key, '^(metrics|results/request_performance/aggregate)/requests/failures$')
        ), 0)
        - coalesce(max(value_number) filter (
            where regexp_matches(key, '^(metrics|results/request_performance/aggregate)/requests/incomplete$')
        ), 0) as completed_count,
        max(value_number) filter (
            where regexp_matches(key, '^(metrics|results/request_performance/aggregate)/requests/failures$')
        ) as failed_count,
        max(value_number) filter (
            where key in ('scenario/load/standardized/concurrency', 'scenario/load/args/max_concurrency')
        ) as concurrency,
        max(value_number) filter (
            where key in ('scenario/load/standardized/rate_qps', 'scenario/load/args/qps_values', 'scenario/load/args/request_rate')
        ) as request_rate_per_s,
        max(value_number) filter (where key = 'metrics/throughput/requests_per_sec') as request_throughput_per_s,
        max(value_number) filter (where key = 'metrics/throughput/output_tokens_per_sec') as output_token_throughput_per_s,
        max(value_number) filter (where key = 'metrics/throughput/total_tokens_per_sec') as total_token_throughput_per_s
    from llm_d_report_entry
    group by
        run_id,
        artifact_manifest_digest
),

outcome as (
    select
        * replace (case when completed_count >= 0 then completed_count end as completed_count),
        coalesce(completed_count, 1) <> 0 as has_outcome
    from counted
),

spread as (
    select
        run_id,
        artifact_manifest_digest,
        role,
        replicas,
        concat_ws(
            ' ', 'TP' || tensor_parallel, 'DP' || data_parallel, 'PP' || pipeline_parallel, 'EP' || expert_parallel
        ) as sizes
    from llm_d_report_engine
),

deployment as (
    select
        run_id,
        artifact_manifest_digest,
        case
            when count(*) > count(replicas) then null
            when count(*) = 1 and min(replicas) = 1 then nullif(min(sizes), '')
            when min(sizes) <> '' then string_agg(concat_ws(' ', role, replicas || ' x ' || sizes), ', ' order by role desc, sizes)
        end as deployment_model
    from spread
    group by
        run_id,
        artifact_manifest_digest
),

stated as (
    select
        run_id,
        artifact_manifest_digest,
        max(value) filter (where quantity = 'time' and metric = 'time_to_first_token' and statistic = 'mean') as ttft_mean_ms,
        max(value) filter (where quantity = 'time' and metric = 'time_to_first_token' and statistic = 'p50') as ttft_p50_ms,
        max(value) filter (where quantity = 'time' and metric = 'time_to_first_token' and statistic = 'p90') as ttft_p90_ms,
        max(value) filter (where quantity = 'time' and metric = 'time_to_first_token' and statistic = 'p95') as ttft_p95_ms,
        max(value) filter (where quantity = 'time' and metric = 'time_to_first_token' and statistic = 'p99') as ttft_p99_ms,
        max(value) filter (where quantity = 'time' and metric = 'time_per_output_token' and statistic = 'mean') as tpot_mean_ms,
        max(value) filter (where quantity = 'time' and metric = 'time_per_output_token' and statistic = 'p50') as tpot_p50_ms,
        max(value) filter (where quantity = 'time' and metric = 'time_per_output_token' and statistic = 'p90') as tpot_p90_ms,
        max(value) filter (where quantity = 'time' and metric = 'time_per_output_token' and statistic = 'p95') as tpot_p95_ms,
        max(value) filter (where quantity = 'time' and metric = 'time_per_output_token' and statistic = 'p99') as tpot_p99_ms,
        max(value) filter (where quantity = 'time' and metric = 'inter_token_latency' and statistic = 'mean') as itl_mean_ms,
        max(value) filter (where quantity = 'time' and metric = 'inter_token_latency' and statistic = 'p50') as itl_p50_ms,
        max(value) filter (where quantity = 'time' and metric = 'inter_token_latency' and statistic = 'p90') as itl_p90_ms,
        max(value) filter (where quantity = 'time' and metric = 'inter_token_latency' and statistic = 'p95') as itl_p95_ms,
        max(value) filter (where quantity = 'time' and metric = 'inter_token_latency' and statistic = 'p99') as itl_p99_ms,
        max(value) filter (where quantity = 'time' and metric = 'request_latency' and statistic = 'mean') as e2e_mean_ms,
        max(value) filter (where quantity = 'time' and metric = 'request_latency' and statistic = 'p50') as e2e_p50_ms,
        max(value) filter (where quantity = 'time' and metric = 'request_latency' and statistic = 'p90') as e2e_p90_ms,
        max(value) filter (where quantity = 'time' and metric = 'request_latency' and statistic = 'p95') as e2e_p95_ms,
        max(value) filter (where quantity = 'time' and metric = 'request_latency' and statistic = 'p99') as e2e_p99_ms,
        max(value) filter (
            where quantity = 'rate' and metric in ('request_rate', 'requests_rate') and statistic = 'mean'
        ) as request_throughput_per_s,
        max(value) filter (
            where quantity = 'rate' and metric = 'output_token_rate' and statistic = 'mean'
        ) as output_token_throughput_per_s,
        max(value) filter (
            where quantity = 'rate' and metric = 'total_token_rate' and statistic = 'mean'
        ) as total_token_throughput_per_s
    from llm_d_report_statistic
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    run.artifact_manifest_digest,
    run.workload_point,
    try_cast(counted.concurrency as bigint) as concurrency_point,
    counted.request_rate_per_s,
    deployment.deployment_model,
    try_cast(counted.completed_count as bigint) as completed_count,
    try_cast(counted.failed_count as bigint) as failed_count,
    case
        when counted.completed_count + counted.failed_count > 0
            then counted.failed_count / (counted.completed_count + counted.failed_count)
    end as error_rate,
    case when counted.has_outcome then stated.ttft_mean_ms end as ttft_mean_ms,
    case when counted.has_outcome then stated.ttft_p50_ms end as ttft_p50_ms,
    case when counted.has_outcome then stated.ttft_p90_ms end as ttft_p90_ms,
    case when counted.has_outcome then stated.ttft_p95_ms end as ttft_p95_ms,
    case when counted.has_outcome then stated.ttft_p99_ms end as ttft_p99_ms,
    case when counted.has_outcome then stated.tpot_mean_ms end as tpot_mean_ms,
    case when counted.has_outcome then stated.tpot_p50_ms end as tpot_p50_ms,
    case when counted.has_outcome then stated.tpot_p90_ms end as tpot_p90_ms,
    case when counted.has_outcome then stated.tpot_p95_ms end as tpot_p95_ms,
    case when counted.has_outcome then stated.tpot_p99_ms end as tpot_p99_ms,
    case when counted.has_outcome then stated.itl_mean_ms end as itl_mean_ms,
    case when counted.has_outcome then stated.itl_p50_ms end as itl_p50_ms,
    case when counted.has_outcome then stated.itl_p90_ms end as itl_p90_ms,
    case when counted.has_outcome then stated.itl_p95_ms end as itl_p95_ms,
    case when counted.has_outcome then stated.itl_p99_ms end as itl_p99_ms,
    case when counted.has_outcome then stated.e2e_mean_ms end as e2e_mean_ms,
    case when counted.has_outcome then stated.e2e_p50_ms end as e2e_p50_ms,
    case when counted.has_outcome then stated.e2e_p90_ms end as e2e_p90_ms,
    case when counted.has_outcome then stated.e2e_p95_ms end as e2e_p95_ms,
    case when counted.has_outcome then stated.e2e_p99_ms end as e2e_p99_ms,
    case
        when counted.has_outcome then coalesce(stated.request_throughput_per_s, counted.request_throughput_per_s)
    end as request_throughput_per_s,
    case
        when counted.has_outcome then coalesce(stated.output_token_throughput_per_s, counted.output_token_throughput_per_s)
    end as output_token_throughput_per_s,
    case
        when counted.has_outcome then coalesce(stated.total_token_throughput_per_s, counted.total_token_throughput_per_s)
    end as total_token_throughput_per_s
from llm_d_report_run as run
inner join outcome as counted
    on
        counted.run_id = run.run_id
        and counted.artifact_manifest_digest = run.artifact_manifest_digest
left join stated
    on
        stated.run_id = run.run_id
        and stated.artifact_manifest_digest = run.artifact_manifest_digest
left join deployment
    on
        deployment.run_id = run.run_id
        and deployment.artifact_manifest_digest = run.artifact_manifest_digest
