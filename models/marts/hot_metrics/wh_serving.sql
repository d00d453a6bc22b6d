/*
description: >
  One row per run of a served model and concurrency bucket: the worst figures of the run's load points in the bucket. A run with one load point
  in a bucket has that point's figures. Only performance runs that count have rows, and no run that was filed twice.
materialized: view
role: hot_metrics
grain: [run_id, concurrency_bucket]
columns:
  concurrency_bucket: {type: varchar, description: "The smallest power of two that is not below the requests in flight; NULL when the load is not closed-loop"}
  ttft_p50_ms: {type: double, unit: ms, description: "Time to first token, p50; the longest of the load points in the bucket"}
  ttft_p95_ms: {type: double, unit: ms, description: "Time to first token, p95; the longest of the load points in the bucket"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token, p99; the longest of the load points in the bucket"}
  itl_p50_ms: {type: double, unit: ms, description: "Inter-token latency, p50; the longest of the load points in the bucket"}
  itl_p95_ms: {type: double, unit: ms, description: "Inter-token latency, p95; the longest of the load points in the bucket"}
  itl_p99_ms: {type: double, unit: ms, description: "Inter-token latency, p99; the longest of the load points in the bucket"}
  tpot_p50_ms: {type: double, unit: ms, description: "Time per output token, p50; the longest of the load points in the bucket"}
  tpot_p95_ms: {type: double, unit: ms, description: "Time per output token, p95; the longest of the load points in the bucket"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token, p99; the longest of the load points in the bucket"}
  e2e_p50_ms: {type: double, unit: ms, description: "End-to-end latency, p50; the longest of the load points in the bucket"}
  e2e_p95_ms: {type: double, unit: ms, description: "End-to-end latency, p95; the longest of the load points in the bucket"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency, p99; the longest of the load points in the bucket"}
  queueing_delay_ms: {type: double, unit: ms, description: "Time a request waited before work on it began; the longest of the load points in the bucket"}
  error_rate: {type: double, description: "Failed requests / requests that ended; the largest of the load points in the bucket"}
  request_throughput_per_s: {type: double, unit: 1/s, description: "Requests completed per second; the lowest of the load points in the bucket"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens per second; the lowest of the load points in the bucket"}
  total_token_throughput_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second; the lowest of the load points in the bucket"}
*/
with bucketed as (
    select
        *,
        case when concurrency_point >= 1 then (2 ** ceil(log2(concurrency_point)))::hugeint::varchar end as concurrency_bucket
    from serving_outcome_fact
)

select
    run_label.*,
    outcome.concurrency_bucket,
    max(outcome.ttft_p50_ms) as ttft_p50_ms,
    max(outcome.ttft_p95_ms) as ttft_p95_ms,
    max(outcome.ttft_p99_ms) as ttft_p99_ms,
    max(outcome.itl_p50_ms) as itl_p50_ms,
    max(outcome.itl_p95_ms) as itl_p95_ms,
    max(outcome.itl_p99_ms) as itl_p99_ms,
    max(outcome.tpot_p50_ms) as tpot_p50_ms,
    max(outcome.tpot_p95_ms) as tpot_p95_ms,
    max(outcome.tpot_p99_ms) as tpot_p99_ms,
    max(outcome.e2e_p50_ms) as e2e_p50_ms,
    max(outcome.e2e_p95_ms) as e2e_p95_ms,
    max(outcome.e2e_p99_ms) as e2e_p99_ms,
    max(outcome.queueing_delay_ms) as queueing_delay_ms,
    max(outcome.error_rate) as error_rate,
    min(outcome.request_throughput_per_s) as request_throughput_per_s,
    min(outcome.output_token_throughput_per_s) as output_token_throughput_per_s,
    min(outcome.total_token_throughput_per_s) as total_token_throughput_per_s
from bucketed as outcome
inner join run_replicate
    on run_replicate.run_id = outcome.run_id
inner join run_label
    on run_label.run_id = outcome.run_id
where run_replicate.copy_of is null
group by all
