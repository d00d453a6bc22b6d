/*
description: >
  One row per benchmark of a report: what it states of its successful requests. request_latency is in seconds, all
  else in the unit of its key. inter_token_latency_ms is the mean over a request's gaps, weighted by their number, so
  its mean is the mean over all gaps. time_per_output_token_ms includes the first token and is not used. A table has the
  median in place of p50, and local times.
grain: [run_id, artifact_manifest_digest, benchmark_index]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  benchmark_index: {type: bigint, description: "Which benchmark of the report", tests: [not_null]}
  start_time_s: {type: double, unit: s, description: "Start, epoch seconds"}
  end_time_s: {type: double, unit: s, description: "End, epoch seconds"}
  is_zone_assumed: {type: boolean, description: "Whether the times are local ones of an unknown zone, taken as UTC", tests: [not_null]}
  completed_count: {type: double, description: "Requests completed"}
  failed_count: {type: double, description: "Requests that failed; those that the end of the benchmark cut off are not counted"}
  ttft_mean_ms: {type: double, unit: ms, description: "Time to first token, mean"}
  ttft_p50_ms: {type: double, unit: ms, description: "Time to first token, p50"}
  ttft_p90_ms: {type: double, unit: ms, description: "Time to first token, p90"}
  ttft_p95_ms: {type: double, unit: ms, description: "Time to first token, p95"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token, p99"}
  itl_mean_ms: {type: double, unit: ms, description: "Inter-token latency, mean"}
  itl_p50_ms: {type: double, unit: ms, description: "Inter-token latency, p50"}
  itl_p90_ms: {type: double, unit: ms, description: "Inter-token latency, p90"}
  itl_p95_ms: {type: double, unit: ms, description: "Inter-token latency, p95"}
  itl_p99_ms: {type: double, unit: ms, description: "Inter-token latency, p99"}
  e2e_mean_ms: {type: double, unit: ms, description: "End-to-end latency, mean"}
  e2e_p50_ms: {type: double, unit: ms, description: "End-to-end latency, p50"}
  e2e_p90_ms: {type: double, unit: ms, description: "End-to-end latency, p90"}
  e2e_p95_ms: {type: double, unit: ms, description: "End-to-end latency, p95"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency, p99"}
  ttft_max: {type: double, description: "The largest, as stated: 0 where nothing was measured"}
  itl_max: {type: double, description: "The largest, as stated: 0 where nothing was measured"}
  e2e_max: {type: double, description: "The largest, as stated: 0 where nothing was measured"}
  request_throughput_per_s: {type: double, unit: 1/s, description: "Requests completed per second"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens per second"}
  total_token_throughput_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second"}
*/
select
    run_id,
    artifact_manifest_digest,
    benchmark_index,
    coalesce(
        max(value_number) filter (where key = 'start_time'),
        epoch(try_strptime(max(value) filter (where key = 'start_time'), '%Y-%m-%d %H:%M:%S'))
    ) as start_time_s,
    coalesce(
        max(value_number) filter (where key = 'end_time'),
        epoch(try_strptime(max(value) filter (where key = 'end_time'), '%Y-%m-%d %H:%M:%S'))
    ) as end_time_s,
    coalesce(bool_or(value_number is null) filter (where key = 'start_time' and value is not null), false) as is_zone_assumed,
    max(value_number) filter (where key in ('metrics/request_totals/successful', 'request_totals/successful')) as completed_count,
    max(value_number) filter (where key in ('metrics/request_totals/errored', 'request_totals/errored')) as failed_count,
    max(value_number) filter (where key = 'metrics/time_to_first_token_ms/successful/mean') as ttft_mean_ms,
    coalesce(
        max(value_number) filter (where key = 'metrics/time_to_first_token_ms/successful/percentiles/p50'),
        max(value_number) filter (where key = 'metrics/time_to_first_token_ms/successful/median')
    ) as ttft_p50_ms,
    max(value_number) filter (where key = 'metrics/time_to_first_token_ms/successful/percentiles/p90') as ttft_p90_ms,
    max(value_number) filter (where key = 'metrics/time_to_first_token_ms/successful/percentiles/p95') as ttft_p95_ms,
    max(value_number) filter (where key = 'metrics/time_to_first_token_ms/successful/percentiles/p99') as ttft_p99_ms,
    max(value_number) filter (where key = 'metrics/inter_token_latency_ms/successful/mean') as itl_mean_ms,
    coalesce(
        max(value_number) filter (where key = 'metrics/inter_token_latency_ms/successful/percentiles/p50'),
        max(value_number) filter (where key = 'metrics/inter_token_latency_ms/successful/median')
    ) as itl_p50_ms,
    max(value_number) filter (where key = 'metrics/inter_token_latency_ms/successful/percentiles/p90') as itl_p90_ms,
    max(value_number) filter (where key = 'metrics/inter_token_latency_ms/successful/percentiles/p95') as itl_p95_ms,
    max(value_number) filter (where key = 'metrics/inter_token_latency_ms/successful/percentiles/p99') as itl_p99_ms,
    max(value_number) filter (where key = 'metrics/request_latency/successful/mean') * 1000 as e2e_mean_ms,
    coalesce(
        max(value_number) filter (where key = 'metrics/request_latency/successful/percentiles/p50'),
        max(value_number) filter (where key = 'metrics/request_latency/successful/median')
    ) * 1000 as e2e_p50_ms,
    max(value_number) filter (where key = 'metrics/request_latency/successful/percentiles/p90') * 1000 as e2e_p90_ms,
    max(value_number) filter (where key = 'metrics/request_latency/successful/percentiles/p95') * 1000 as e2e_p95_ms,
    max(value_number) filter (where key = 'metrics/request_latency/successful/percentiles/p99') * 1000 as e2e_p99_ms,
    max(value_number) filter (where key = 'metrics/time_to_first_token_ms/successful/max') as ttft_max,
    max(value_number) filter (where key = 'metrics/inter_token_latency_ms/successful/max') as itl_max,
    max(value_number) filter (where key = 'metrics/request_latency/successful/max') as e2e_max,
    max(value_number) filter (where key = 'metrics/requests_per_second/successful/mean') as request_throughput_per_s,
    max(value_number) filter (where key = 'metrics/output_tokens_per_second/successful/mean') as output_token_throughput_per_s,
    max(value_number) filter (where key = 'metrics/tokens_per_second/successful/mean') as total_token_throughput_per_s
from guidellm_entry
where benchmark_index is not null
group by
    run_id,
    artifact_manifest_digest,
    benchmark_index
