/*
description: >
  One row per report of trtllm-bench: what it states. Latencies are in milliseconds, rates per second. Time to first
  token and time per output token are there only if it streamed; the tool writes 0 for a request without a second token.
  So a statistic of 0 was not measured.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  completed_count: {type: bigint, description: "Requests that ended"}
  duration_s: {type: double, unit: s, description: "From the first request's start to the last one's end"}
  request_throughput_per_s: {type: double, unit: 1/s, description: "Requests / duration"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens / duration"}
  total_token_throughput_per_s: {type: double, unit: tokens/s, description: "Input and output tokens / duration"}
  input_length: {type: bigint, description: "Input tokens of the dataset's requests, mean"}
  output_length: {type: bigint, description: "Output tokens asked for, mean"}
  model: {type: varchar, description: "The model's name"}
  framework_version: {type: varchar, description: "The version of TensorRT-LLM"}
  accelerator: {type: varchar, description: "The first GPU, as the driver names it; all are alike"}
  precision: {type: varchar, description: "The quantisation, or the data type of weights that have none"}
  server_flags: {type: varchar, description: "Settings of the engine and of its run"}
*/
select
    run_id,
    artifact_manifest_digest,
    try_cast(max(value_number) filter (where key = 'request_info/num_requests') as bigint) as completed_count,
    max(value_number) filter (where key = 'performance/total_latency_ms') / 1000 as duration_s,
    max(value_number) filter (where key = 'performance/request_throughput_req_s') as request_throughput_per_s,
    max(value_number) filter (where key = 'performance/system_output_throughput_tok_s') as output_token_throughput_per_s,
    max(value_number) filter (where key = 'performance/system_total_throughput_tok_s') as total_token_throughput_per_s,
    try_cast(round(max(value_number) filter (where key = 'dataset/isl_stats/average')) as bigint) as input_length,
    try_cast(round(max(value_number) filter (where key = 'dataset/osl_stats/average')) as bigint) as output_length,
    max(value) filter (where key = 'engine/model') as model,
    max(value) filter (where key = 'engine/version') as framework_version,
    max(value) filter (where key = 'machine/name') as accelerator,
    coalesce(
        max(value) filter (where key = 'engine/quantization'),
        max(value) filter (where key = 'engine/dtype')
    ) as precision,
    string_agg('--' || replace(split_part(key, '/', 2), '_', '-') || '=' || value, ' ' order by key) filter (
        where key in (
            'engine/backend', 'engine/kv_cache_dtype', 'engine/max_input_length', 'engine/max_sequence_length', 'world_info/max_batch_size',
            'world_info/max_num_tokens', 'world_info/scheduling_policy', 'world_info/kv_cache_percentage'
        )
    ) as server_flags
from trtllm_bench_entry
group by
    run_id,
    artifact_manifest_digest
