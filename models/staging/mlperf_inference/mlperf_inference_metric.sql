/*
description: >
  One row per run and bundle: what the load generator's logs state, one column per metric. The detail log has six
  significant digits where the summary has two decimals. So the detail log is used if there is one (see
  mlperf_inference_log_source), else the summary. A run has no row if its log was cut off or contradicts itself. A
  summary that was, beside a detail log, is not read. An impossible value is NULL. Load generators spell a percentile 90th, 90.0th or 90.00; here all are 90. An early-stopping
  estimate of 0 is NULL.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {tests: [not_null]}
  sample_throughput_per_s: {type: double, unit: samples/s, description: "Samples completed per second; scheduled samples are not the result"}
  token_throughput_per_s: {type: double, unit: tokens/s, description: "Tokens completed per second, counted"}
  inferred_token_throughput_per_s: {type: double, unit: tokens/s, description: "Tokens per second, computed by the load generator from samples and a constant"}
  scheduled_sample_throughput_per_s: {type: double, unit: samples/s, description: "Samples scheduled per second: the result of a Server run up to v4.0"}
  early_stopping_single_ms: {type: double, unit: ms, description: "Early-stopping estimate of SingleStream's percentile: p90, in MLPerf Automotive p99.9; of a token latency when has_token_early_stopping"}
  early_stopping_p99_ms: {type: double, unit: ms, description: "Early-stopping estimate of p99; of a token latency when has_token_early_stopping"}
  single_stream_qps: {type: double, unit: 1/s, description: "Queries per second of a SingleStream run, without the load generator's overhead"}
  samples_per_query: {type: double, description: "Samples per query, as the log says"}
  e2e_mean_ms: {type: double, unit: ms, description: "Latency of a query (in MultiStream: of all its samples), mean; NULL where it is not between the least and the largest, as when the load generator's sum overflowed"}
  e2e_p50_ms: {type: double, unit: ms, description: "Latency, p50"}
  e2e_p90_ms: {type: double, unit: ms, description: "Latency, p90"}
  e2e_p95_ms: {type: double, unit: ms, description: "Latency, p95"}
  e2e_p99_ms: {type: double, unit: ms, description: "Latency, p99"}
  e2e_p99_9_ms: {type: double, unit: ms, description: "Latency, p99.9"}
  ttft_mean_ms: {type: double, unit: ms, description: "Time to first token, mean"}
  ttft_p50_ms: {type: double, unit: ms, description: "Time to first token, p50"}
  ttft_p90_ms: {type: double, unit: ms, description: "Time to first token, p90"}
  ttft_p95_ms: {type: double, unit: ms, description: "Time to first token, p95"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token, p99"}
  tpot_mean_ms: {type: double, unit: ms, description: "Time per output token, mean"}
  tpot_p50_ms: {type: double, unit: ms, description: "Time per output token, p50"}
  tpot_p90_ms: {type: double, unit: ms, description: "Time per output token, p90"}
  tpot_p95_ms: {type: double, unit: ms, description: "Time per output token, p95"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token, p99"}
  query_count: {type: double, description: "Queries completed"}
  target_latency_ms: {type: double, unit: ms, description: "Latency that the run was set to keep; 0 or NULL: token latencies, or none"}
  min_duration_ms: {type: double, unit: ms, description: "Minimum duration that the run was set to"}
  min_query_count: {type: double, description: "Minimum number of queries that the run was set to"}
  performance_sample_count: {type: double, description: "Samples that the run drew from"}
  target_qps: {type: double, unit: 1/s, description: "Queries per second asked for"}
  validity: {type: varchar, description: "The load generator's verdict on the run: VALID or INVALID"}
  loadgen_version: {type: varchar, description: "Load generator version and commit"}
  test_datetime: {type: varchar, description: "Start of the test, ISO 8601"}
  power_begin: {type: varchar, description: "Start of the measured window on the client's clock"}
  power_end: {type: varchar, description: "End of the measured window on the client's clock"}
  has_detail_throughput: {type: boolean, description: "Whether the detail log states a throughput, with six significant digits", tests: [not_null]}
  has_token_throughput: {type: boolean, description: "Whether the logs state a token throughput, readable or not", tests: [not_null]}
  has_early_stopping: {type: boolean, description: "Whether the logs mention early stopping, which older load generators do not have", tests: [not_null]}
  has_token_early_stopping: {type: boolean, description: "Whether the early-stopping estimates are of token latencies, not of the whole query", tests: [not_null]}
*/
with logged as (
    select
        log.run_id,
        log.artifact_manifest_digest,
        entry.source,
        regexp_replace(entry.key, '([0-9]+)([.][0-9]*[1-9])?[.]?0*(th)? percentile', '\1\2 percentile') as key,
        entry.value,
        entry.value_number,
        entry.raw_offset
    from mlperf_inference_log_source as log
    inner join mlperf_inference_entry as entry
        on
            entry.run_id = log.run_id
            and entry.artifact_manifest_digest = log.artifact_manifest_digest
    where
        entry.source = 'summary'
        and log.summary_refusal is null
        and (log.refusal is null or log.refusal in ('loadgen-errors', 'mode-mismatch'))
    union all
    select
        log.run_id,
        log.artifact_manifest_digest,
        entry.source,
        entry.key,
        entry.value,
        entry.value_number,
        entry.raw_offset
    from mlperf_inference_log_source as log
    inner join mlperf_inference_entry as entry
        on
            entry.run_id = log.detail_run_id
            and entry.artifact_manifest_digest = log.detail_manifest_digest
    where
        entry.source = 'detail'
        and (log.refusal is null or log.refusal in ('loadgen-errors', 'mode-mismatch'))
)

-- `case` and not `filter`: with sixty filters the engine takes three times as long, however few rows there are.
select
    run_id,
    artifact_manifest_digest,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_samples_per_second' then value_number end, raw_offset),
        arg_max(case when source = 'detail' and key = 'result_completed_samples_per_sec' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'Samples per second' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'Completed samples per second' then value_number end, raw_offset)
    ) as sample_throughput_per_s,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_tokens_per_second' then value_number end, raw_offset),
        arg_max(case when source = 'detail' and key = 'result_completed_tokens_per_second' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'Tokens per second' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'Completed tokens per second' then value_number end, raw_offset)
    ) as token_throughput_per_s,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_inferred_tokens_per_second' then value_number end, raw_offset),
        arg_max(case when source = 'detail' and key = 'result_inferred_completed_tokens_per_second' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'Tokens per second (inferred)' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'Completed tokens per second (inferred)' then value_number end, raw_offset)
    ) as inferred_token_throughput_per_s,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_scheduled_samples_per_sec' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'Scheduled samples per second' then value_number end, raw_offset)
    ) as scheduled_sample_throughput_per_s,
    coalesce(
        nullif(arg_max(case when source = 'detail' and key = 'early_stopping_latency_ss' then value_number end, raw_offset), 0) / 1e6,
        nullif(arg_max(case when source = 'summary' and key = 'Early stopping 99.9 percentile estimate' then value_number end, raw_offset), 0) / 1e6,
        nullif(arg_max(case when source = 'summary' and key = 'Early stopping 90 percentile estimate' then value_number end, raw_offset), 0) / 1e6
    ) as early_stopping_single_ms,
    coalesce(
        nullif(arg_max(case when source = 'detail' and key = 'early_stopping_latency_ms' then value_number end, raw_offset), 0) / 1e6,
        nullif(arg_max(case when source = 'summary' and key = 'Early stopping 99 percentile estimate' then value_number end, raw_offset), 0) / 1e6
    ) as early_stopping_p99_ms,
    arg_max(case when source = 'detail' and key = 'result_qps_without_loadgen_overhead' then value_number end, raw_offset)
        as single_stream_qps,
    coalesce(
        arg_max(case when source = 'detail' and key = 'effective_samples_per_query' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'samples_per_query' then value_number end, raw_offset)
    ) as samples_per_query,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_mean_query_latency_ns' then value_number end, raw_offset) / 1e6,
        case
            when
                arg_max(case when source = 'detail' and key = 'result_mean_latency_ns' then value_number end, raw_offset)
                between coalesce(arg_max(case when source = 'detail' and key = 'result_min_latency_ns' then value_number end, raw_offset), 0)
                and coalesce(arg_max(case when source = 'detail' and key = 'result_max_latency_ns' then value_number end, raw_offset), 'infinity')
                then arg_max(case when source = 'detail' and key = 'result_mean_latency_ns' then value_number end, raw_offset)
        end / 1e6,
        case
            when
                arg_max(case when source = 'summary' and key = 'Mean latency (ns)' then value_number end, raw_offset)
                between coalesce(arg_max(case when source = 'summary' and key = 'Min latency (ns)' then value_number end, raw_offset), 0)
                and coalesce(arg_max(case when source = 'summary' and key = 'Max latency (ns)' then value_number end, raw_offset), 'infinity')
                then arg_max(case when source = 'summary' and key = 'Mean latency (ns)' then value_number end, raw_offset)
        end / 1e6
    ) as e2e_mean_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_50.00_percentile_per_query_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'detail' and key = 'result_50.00_percentile_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '50 percentile latency (ns)' then value_number end, raw_offset) / 1e6
    ) as e2e_p50_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_90.00_percentile_per_query_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'detail' and key = 'result_90.00_percentile_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '90 percentile latency (ns)' then value_number end, raw_offset) / 1e6
    ) as e2e_p90_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_95.00_percentile_per_query_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'detail' and key = 'result_95.00_percentile_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '95 percentile latency (ns)' then value_number end, raw_offset) / 1e6
    ) as e2e_p95_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_99.00_percentile_per_query_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'detail' and key = 'result_99.00_percentile_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '99 percentile latency (ns)' then value_number end, raw_offset) / 1e6
    ) as e2e_p99_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_99.90_percentile_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '99.9 percentile latency (ns)' then value_number end, raw_offset) / 1e6
    ) as e2e_p99_9_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_first_token_mean_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = 'Mean First Token latency (ns)' then value_number end, raw_offset) / 1e6
    ) as ttft_mean_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_first_token_50.00_percentile_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '50 percentile first token latency (ns)' then value_number end, raw_offset) / 1e6
    ) as ttft_p50_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_first_token_90.00_percentile_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '90 percentile first token latency (ns)' then value_number end, raw_offset) / 1e6
    ) as ttft_p90_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_first_token_95.00_percentile_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '95 percentile first token latency (ns)' then value_number end, raw_offset) / 1e6
    ) as ttft_p95_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_first_token_99.00_percentile_latency_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '99 percentile first token latency (ns)' then value_number end, raw_offset) / 1e6
    ) as ttft_p99_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_time_to_output_token_mean' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = 'Mean Time to Output Token (ns)' then value_number end, raw_offset) / 1e6
    ) as tpot_mean_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_time_per_output_token_50.00_percentile_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '50 percentile time to output token (ns)' then value_number end, raw_offset) / 1e6
    ) as tpot_p50_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_time_per_output_token_90.00_percentile_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '90 percentile time to output token (ns)' then value_number end, raw_offset) / 1e6
    ) as tpot_p90_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_time_per_output_token_95.00_percentile_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '95 percentile time to output token (ns)' then value_number end, raw_offset) / 1e6
    ) as tpot_p95_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_time_per_output_token_99.00_percentile_ns' then value_number end, raw_offset) / 1e6,
        arg_max(case when source = 'summary' and key = '99 percentile time to output token (ns)' then value_number end, raw_offset) / 1e6
    ) as tpot_p99_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_query_count' then value_number end, raw_offset)
    ) as query_count,
    coalesce(
        arg_max(case when source = 'detail' and key = 'effective_target_latency_ns' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'target_latency (ns)' then value_number end, raw_offset)
    ) / 1e6 as target_latency_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'effective_min_duration_ms' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'min_duration (ms)' then value_number end, raw_offset)
    ) as min_duration_ms,
    coalesce(
        arg_max(case when source = 'detail' and key = 'effective_min_query_count' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'min_query_count' then value_number end, raw_offset)
    ) as min_query_count,
    coalesce(
        arg_max(case when source = 'detail' and key = 'effective_performance_sample_count' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'performance_sample_count' then value_number end, raw_offset)
    ) as performance_sample_count,
    coalesce(
        arg_max(case when source = 'detail' and key = 'effective_target_qps' then value_number end, raw_offset),
        arg_max(case when source = 'summary' and key = 'target_qps' then value_number end, raw_offset)
    ) as target_qps,
    coalesce(
        arg_max(case when source = 'detail' and key = 'result_validity' then value end, raw_offset),
        arg_max(case when source = 'summary' and key = 'Result is' then value end, raw_offset)
    ) as validity,
    coalesce(
        arg_max(case when source = 'detail' and key = 'loadgen_version' then value end, raw_offset)
    ) as loadgen_version,
    coalesce(
        arg_max(case when source = 'detail' and key = 'test_datetime' then value end, raw_offset)
    ) as test_datetime,
    coalesce(
        arg_max(case when source = 'detail' and key = 'power_begin' then value end, raw_offset)
    ) as power_begin,
    coalesce(
        arg_max(case when source = 'detail' and key = 'power_end' then value end, raw_offset)
    ) as power_end,
    count(*) filter (where regexp_matches(key, '^result_.*_per_sec(ond)?$')) > 0 as has_detail_throughput,
    count(*) filter (
        where key in (
            'result_tokens_per_second', 'result_completed_tokens_per_second', 'result_inferred_tokens_per_second',
            'result_inferred_completed_tokens_per_second', 'Tokens per second', 'Completed tokens per second',
            'Tokens per second (inferred)', 'Completed tokens per second (inferred)'
        )
    ) > 0 as has_token_throughput,
    count(*) filter (
        where key in (
            'early_stopping_met', 'Early stopping satisfied', 'Early Stopping Result', 'Early stopping 90 percentile estimate',
            'Early stopping 99 percentile estimate'
        )
    ) > 0 as has_early_stopping,
    count(*) filter (
        where key in ('early_stopping_ttft_result', 'early_stopping_tpot_result', 'TTFT Early Stopping Result', 'TPOT Early Stopping Result')
    ) > 0 as has_token_early_stopping
from logged
group by
    run_id,
    artifact_manifest_digest
