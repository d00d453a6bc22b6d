/*
description: >
  One row per run whose evidence states how much of its prompts the server found in its prefix cache, in the measured
  window: tokens from a cache of any tier (accelerator, host, storage) over prompt tokens. AIPerf scrapes the server's
  counters, and states their increase while it measured. InferenceX's records state the same rate. Not used are SGLang's
  gauge of the rate, which is one batch's, and the rates on consoles: vLLM's is that of its last thousand requests.
grain: [run_id]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  prefix_cache_hit_rate: {type: double, unit: ratio, description: "Prompt tokens from a prefix cache / prompt tokens", tests: [not_null, {range: {min: 0, max: 1}}]}
  cached_token_count: {type: bigint, description: "Prompt tokens from a prefix cache; NULL for a record"}
  prompt_token_count: {type: bigint, description: "Prompt tokens that were looked up; NULL for a record"}
  source: {type: varchar, description: "What states it", tests: [not_null, {accepted_values: [counters, record]}]}
*/
with counter as (
    select
        run_id,
        artifact_manifest_digest,
        -- vLLM looks up the rest of a prompt outside after its own cache; earlier it named that cache after the GPU.
        sum(value_total) filter (
            where metric in ('vllm:prefix_cache_hits', 'vllm:gpu_prefix_cache_hits', 'vllm:external_prefix_cache_hits')
        ) as vllm_cached,
        sum(value_total) filter (where metric in ('vllm:prefix_cache_queries', 'vllm:gpu_prefix_cache_queries')) as vllm_prompt,
        sum(value_total) filter (where metric = 'sglang:cached_tokens') as sglang_cached,
        sum(value_total) filter (where metric = 'sglang:prompt_tokens') as sglang_prompt
    from genai_perf_server_metric
    group by
        run_id,
        artifact_manifest_digest
),

counted as (
    select
        run_id,
        artifact_manifest_digest,
        case when vllm_prompt > 0 then vllm_cached else sglang_cached end as cached,
        case when vllm_prompt > 0 then vllm_prompt else sglang_prompt end as prompt
    from counter
    where (vllm_prompt > 0) is distinct from (sglang_prompt > 0)
),

recorded as (
    select
        entry.run_id,
        entry.artifact_manifest_digest,
        max(entry.value_number) filter (where entry.key = 'server_metrics/cache/overall_cache_hit_rate') as hit_rate,
        -- Without these it may be the mean of SGLang's gauge.
        bool_or(
            entry.key = 'server_metrics/cache/prefix_cache_queries' or starts_with(entry.key, 'server_metrics/cache/cached_tokens_by_source/')
        ) as is_of_counters
    from bench_serving_entry as entry
    where
        starts_with(entry.key, 'server_metrics/cache/')
        and entry.value_number is not null
    group by
        entry.run_id,
        entry.artifact_manifest_digest
),

found as (
    select
        run_id,
        artifact_manifest_digest,
        cached / prompt as prefix_cache_hit_rate,
        try_cast(cached as bigint) as cached_token_count,
        try_cast(prompt as bigint) as prompt_token_count,
        'counters' as source
    from counted
    where cached between 0 and prompt
    union all
    select
        run_id,
        artifact_manifest_digest,
        hit_rate as prefix_cache_hit_rate,
        cast(null as bigint) as cached_token_count,
        cast(null as bigint) as prompt_token_count,
        'record' as source
    from recorded
    where
        is_of_counters
        and hit_rate between 0 and 1
)

select found.*
from found
inner join run_bundle
    on
        run_bundle.run_id = found.run_id
        and run_bundle.artifact_manifest_digest = found.artifact_manifest_digest
