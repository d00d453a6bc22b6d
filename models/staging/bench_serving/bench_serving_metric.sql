/*
description: >
  One row per run of vLLM's client or a fork: what its record states, each metric in one unit, which is the suffix of
  its key. The clients write `_ms`; InferenceX writes seconds without a suffix. What InferenceX's agentic records call
  itl is AIPerf's inter_token_latency, one value per request. It is not a time between tokens, so it is left out;
  their tpot has the same meaning. What a record does not state is computed from its requests, if it has them. A
  latency of zero is NULL, because the clients write zero if there was nothing to measure. vLLM's acceptance rate of draft tokens is in percent. Where the ingestor found that the
  statistics that a record states and those that only its requests give are not of the same requests, all are those of the
  requests, and the stated ones are in stated_latencies. If failed requests are not
  counted, they are the requested ones that were not completed, provided that the dataset always has as many requests
  as are asked for. That is so for random, random-mm, sonnet and burstgpt in vLLM (datasets.py), random in
  InferenceX's client, and random-ids in SGLang (bench_serving.py). vLLM may have fewer for sharegpt and for files
  (filters, --no-oversample) and for prefix_repetition (whole groups), as may SGLang for random, which it takes from
  ShareGPT. It is not known for embeddings, which go in batches. InferenceX's agentic records without
  request_accounting leave failed requests out of both counts, so equal counts prove nothing.
grain: [run_id, artifact_manifest_digest]
*/
with stated as (
    select
        entry.run_id,
        entry.artifact_manifest_digest,
        entry.source,
        run.format,
        run.dataset,
        coalesce(string_split(run.metrics_of_requests, ','), []) as metrics_of_requests,
        case
            when run.format = 'inferencex_agentic'
                then regexp_replace(entry.key, '^request_metrics/latency/([a-z0-9]+)/([a-z0-9.]+)$', '\2_\1')
            when run.format = 'stt'
                then regexp_replace(entry.key, '^results/processing_time/(mean|median)_s$', '\1_e2el')
            else entry.key
        end as key,
        entry.value_number
    from bench_serving_entry as entry
    inner join bench_serving_run as run
        on
            run.run_id = entry.run_id
            and run.artifact_manifest_digest = entry.artifact_manifest_digest
    where
        (entry.source in ('result', 'requests') or entry.key = 'client/num_prompts')
        and (entry.value_number is not null or (entry.key = 'failed' and entry.value is not null))
),

number as (
    select
        run_id,
        artifact_manifest_digest,
        source,
        format,
        dataset,
        metrics_of_requests,
        key,
        regexp_extract(key, '^(mean|median|std|p[0-9.]+)_(?:ttft|tpot|itl|e2e)(?:l|_latency)?(?:_[a-z]+)?$', 1) as statistic,
        regexp_extract(key, '^(?:mean|median|std|p[0-9.]+)_(ttft|tpot|itl|e2e)(?:l|_latency)?(?:_[a-z]+)?$', 1) as metric,
        value_number,
        case
            when regexp_matches(key, '_(ms|msec)$') then value_number
            when regexp_matches(key, '_(us|usec)$') then value_number / 1000
            when regexp_matches(key, '_ns$') then value_number / 1000000
            when regexp_matches(key, '_(s|sec|secs|seconds)$') then value_number * 1000
            when format = 'inferencex_agentic' and ends_with(key, '_itl') then null
            when not regexp_matches(key, '_(ttft|tpot|itl|e2el?|e2e_latency)$') then null
            when starts_with(format, 'inferencex') or format = 'stt' then value_number * 1000
        end as value_ms
    from stated
),

measured as (
    select
        run_id,
        artifact_manifest_digest,
        source,
        format,
        dataset,
        key,
        metric,
        case statistic when 'median' then 'p50' else statistic end as statistic,
        value_number,
        source = 'result' and list_contains(metrics_of_requests, metric) as is_beside,
        case when statistic = 'std' or value_ms > 0 then value_ms end as value_ms
    from number
),

counted as (
    select
        * exclude (value_ms),
        if(is_beside, null, value_ms) as value_ms,
        if(is_beside and statistic <> '', value_ms, null) as stated_ms
    from measured
)

select
    run_id,
    artifact_manifest_digest,
    max(value_number) filter (where source = 'result' and key in ('duration', 'duration_seconds', 'results/total_time_s', 'request_metrics/throughput/duration_seconds')) as duration_s,
    max(value_number) filter (where source = 'result' and key in ('completed', 'num_requests_successful', 'results/success')) as completed_count,
    coalesce(
        max(value_number) filter (where source = 'result' and key in ('failed', 'results/failed')),
        max(value_number) filter (where source = 'requests' and key = 'failed'),
        max(value_number) filter (where source = 'result' and key = 'request_accounting/records_total')
        - max(value_number) filter (where source = 'result' and key = 'request_accounting/records_profiled')
        - max(value_number) filter (where source = 'result' and key = 'request_accounting/records_warmup_dropped'),
        nullif(
            max(value_number) filter (where source = 'result' and key = 'num_requests_total')
            - max(value_number) filter (where source = 'result' and key = 'num_requests_successful'), 0
        ),
        case
            when count(*) filter (where source = 'result' and key = 'failed') > 0 then null  -- it is stated, and no possible number
            when
                max(value_number) filter (where key in ('num_prompts', 'client/num_prompts'))
                = max(value_number) filter (where source = 'result' and key = 'completed')
                then 0
            when
                max(value_number) filter (where key in ('num_prompts', 'client/num_prompts'))
                > max(value_number) filter (where source = 'result' and key = 'completed')
                and (
                    (max(format) = 'vllm' and max(dataset) in ('random', 'random-mm', 'sonnet', 'burstgpt'))
                    or (max(format) = 'inferencex' and max(dataset) = 'random')
                    or (max(format) = 'sglang' and max(dataset) = 'random-ids')
                )
                and count(*) filter (where source = 'result' and key = 'total_output_tokens') > 0
                then
                    max(value_number) filter (where key in ('num_prompts', 'client/num_prompts'))
                    - max(value_number) filter (where source = 'result' and key = 'completed')
        end
    ) as failed_count,
    coalesce(
        max(value_number) filter (where source = 'result' and key in ('request_throughput', 'request_inthroughput', 'results/throughput_rps')),
        max(value_number) filter (where source = 'result' and key = 'num_requests_successful') / nullif(
            max(value_number) filter (
                where source = 'result' and key in ('duration_seconds', 'request_metrics/throughput/duration_seconds')
            ), 0
        )
    ) as request_throughput_per_s,
    max(value_number) filter (where source = 'result' and key = 'spec_decode_acceptance_rate') as speculative_acceptance_pct,
    max(value_number) filter (where source = 'result' and key in ('spec_decode_acceptance_length', 'accept_length') and value_number > 0) as speculative_acceptance_length,
    max(value_number) filter (where source = 'result' and key = 'input_throughput') as input_token_throughput_per_s,
    max(value_number) filter (
        where source = 'result' and key in ('output_throughput', 'output_tput_tps', 'request_metrics/throughput/output/tokens_per_second')
    ) as output_token_throughput_per_s,
    max(value_number) filter (
        where
            source = 'result'
            and key in ('total_token_throughput', 'total_throughput', 'total_tput_tps', 'request_metrics/throughput/total/tokens_per_second')
    ) as total_token_throughput_per_s,
    max(value_number) filter (where source = 'result' and key = 'tput_per_gpu') as total_token_throughput_per_accelerator,
    max(value_number) filter (where source = 'result' and key = 'output_tput_per_gpu') as output_token_throughput_per_accelerator,
    max(value_number) filter (where source = 'result' and key = 'avg_total_gpu_power_w' and value_number > 0) as accelerator_power_w,
    max(value_number) filter (where source = 'result' and key = 'joules_per_output_token' and value_number > 0) as accelerator_energy_per_output_token_j,
    max(value_number) filter (where source = 'result' and key = 'joules_per_input_token' and value_number > 0) as accelerator_energy_per_input_token_j,
    max(value_number) filter (where source = 'result' and key = 'joules_per_total_token' and value_number > 0) as accelerator_energy_per_total_token_j,
    max(value_number) filter (
        where source = 'result' and key = 'prefill_joules_per_input_token' and value_number > 0
    ) as prefill_accelerator_energy_per_input_token_j,
    max(value_number) filter (
        where source = 'result' and key = 'decode_joules_per_output_token' and value_number > 0
    ) as decode_accelerator_energy_per_output_token_j,
    coalesce(max(value_number) filter (where source = 'result' and key = 'power_valid') = 1, false) as is_power_valid,
    max(value_number) filter (where source = 'result' and key = 'results/rtf/mean' and value_number > 0) as real_time_factor_mean,
    coalesce(
        max(value_number) filter (where source = 'result' and key = 'rtfx' and value_number > 0),
        max(value_number) filter (where source = 'result' and key = 'audio_duration_s')
        * max(value_number) filter (where source = 'result' and key = 'results/success')
        / nullif(max(value_number) filter (where source = 'result' and key = 'results/total_time_s'), 0)
    ) as audio_throughput_s_per_s,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'ttft' and statistic = 'mean'),
        max(value_ms) filter (where source = 'requests' and metric = 'ttft' and statistic = 'mean')
    ) as ttft_mean_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'ttft' and statistic = 'p50'),
        max(value_ms) filter (where source = 'requests' and metric = 'ttft' and statistic = 'p50')
    ) as ttft_p50_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'ttft' and statistic = 'p90'),
        max(value_ms) filter (where source = 'requests' and metric = 'ttft' and statistic = 'p90')
    ) as ttft_p90_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'ttft' and statistic = 'p95'),
        max(value_ms) filter (where source = 'requests' and metric = 'ttft' and statistic = 'p95')
    ) as ttft_p95_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'ttft' and statistic = 'p99'),
        max(value_ms) filter (where source = 'requests' and metric = 'ttft' and statistic = 'p99')
    ) as ttft_p99_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'tpot' and statistic = 'mean'),
        max(value_ms) filter (where source = 'requests' and metric = 'tpot' and statistic = 'mean')
    ) as tpot_mean_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'tpot' and statistic = 'p50'),
        max(value_ms) filter (where source = 'requests' and metric = 'tpot' and statistic = 'p50')
    ) as tpot_p50_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'tpot' and statistic = 'p90'),
        max(value_ms) filter (where source = 'requests' and metric = 'tpot' and statistic = 'p90')
    ) as tpot_p90_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'tpot' and statistic = 'p95'),
        max(value_ms) filter (where source = 'requests' and metric = 'tpot' and statistic = 'p95')
    ) as tpot_p95_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'tpot' and statistic = 'p99'),
        max(value_ms) filter (where source = 'requests' and metric = 'tpot' and statistic = 'p99')
    ) as tpot_p99_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'itl' and statistic = 'mean'),
        max(value_ms) filter (where source = 'requests' and metric = 'itl' and statistic = 'mean')
    ) as itl_mean_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'itl' and statistic = 'p50'),
        max(value_ms) filter (where source = 'requests' and metric = 'itl' and statistic = 'p50')
    ) as itl_p50_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'itl' and statistic = 'p90'),
        max(value_ms) filter (where source = 'requests' and metric = 'itl' and statistic = 'p90')
    ) as itl_p90_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'itl' and statistic = 'p95'),
        max(value_ms) filter (where source = 'requests' and metric = 'itl' and statistic = 'p95')
    ) as itl_p95_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'itl' and statistic = 'p99'),
        max(value_ms) filter (where source = 'requests' and metric = 'itl' and statistic = 'p99')
    ) as itl_p99_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'itl' and statistic = 'std'),
        max(value_ms) filter (where source = 'requests' and metric = 'itl' and statistic = 'std')
    ) as itl_std_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'e2e' and statistic = 'mean'),
        max(value_ms) filter (where source = 'requests' and metric = 'e2e' and statistic = 'mean')
    ) as e2e_mean_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'e2e' and statistic = 'p50'),
        max(value_ms) filter (where source = 'requests' and metric = 'e2e' and statistic = 'p50')
    ) as e2e_p50_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'e2e' and statistic = 'p90'),
        max(value_ms) filter (where source = 'requests' and metric = 'e2e' and statistic = 'p90')
    ) as e2e_p90_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'e2e' and statistic = 'p95'),
        max(value_ms) filter (where source = 'requests' and metric = 'e2e' and statistic = 'p95')
    ) as e2e_p95_ms,
    coalesce(
        max(value_ms) filter (where source = 'result' and metric = 'e2e' and statistic = 'p99'),
        max(value_ms) filter (where source = 'requests' and metric = 'e2e' and statistic = 'p99')
    ) as e2e_p99_ms,
    '{' || string_agg('"' || metric || '_' || statistic || '_ms": ' || stated_ms, ', ' order by metric, statistic, stated_ms) || '}' as stated_latencies
from counted
group by
    run_id,
    artifact_manifest_digest
