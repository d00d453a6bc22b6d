/*
description: >
  One row per run of vLLM's client or a fork: how the model was served. Server settings in a record (SGLang's
  server_info) or on the console count as flags if they are neither empty nor off; prefix caching counts even if it is
  off. What InferenceX states besides sizes, and what a vLLM sweep set (`SERVE--max_num_seqs=4`, the `serve_overrides`
  of a failure), are flags, too. SGLang's client draws each length between random_range_ratio times the stated one and
  the stated one, which is therefore not the mean (sglang/benchmark/datasets/common.py, compute_random_lens).
grain: [run_id, artifact_manifest_digest]
feeds: serving_configuration
*/
with setting as (
    select
        run_id,
        artifact_manifest_digest,
        case source when 'result' then 1 else 2 end as place,
        regexp_extract(key, '^(?:server_info/|server/|engine/|serve_overrides/)?([a-z0-9_-]+)$', 1) as name,
        value
    from bench_serving_entry
    where
        value is not null
        and (
            (source = 'result' and regexp_matches(key, '^server_info/[a-z0-9_]+$') and key not in ('server_info/version', 'server_info/status'))
            or (source = 'result' and key in ('dp_attention', 'spec_decoding', 'disagg', 'offloading', 'kv_offloading', 'max_num_seqs'))
            or (source = 'result' and key in ('enable_prefix_caching', 'disable_radix_cache', 'no_enable_prefix_caching'))
            or (source = 'result' and regexp_matches(key, '^serve_overrides/[a-z0-9_-]+$') and key != 'serve_overrides/_benchmark_name')
            or (source = 'console' and regexp_matches(key, '^(server|engine)/[a-z0-9_]+$'))
        )
),

flag as (
    select
        run_id,
        artifact_manifest_digest,
        string_agg(
            distinct '--' || replace(name, '_', '-') || '=' || case lower(value) when 'true' then 'true' when 'false' then 'false' else value end, ' '
            order by '--' || replace(name, '_', '-') || '=' || case lower(value) when 'true' then 'true' when 'false' then 'false' else value end
        ) as server_flags
    from setting
    where
        lower(value) not in ('', 'false', 'none')
        or name in ('disable_radix_cache', 'enable_prefix_caching')
    group by
        run_id,
        artifact_manifest_digest
),

run as (
    select
        *,
        try_cast(json_extract_string(workload_document, '$.random_range_ratio') as double) as random_range_ratio
    from bench_serving_run
)

select
    run.run_id,
    run.artifact_manifest_digest,
    case when run.split_deployment is null then run.tensor_parallel end as tensor_parallel_size,
    case when run.split_deployment is null then run.pipeline_parallel end as pipeline_parallel_size,
    case when run.split_deployment is null then run.expert_parallel end as expert_parallel_size,
    case when run.split_deployment is null then run.data_parallel end as data_parallel_size,
    run.prefill_accelerator,
    run.decode_accelerator,
    run.prefill_accelerator_count,
    run.decode_accelerator_count,
    run.precision,
    coalesce(
        flag.server_flags,
        nullif('--' || regexp_extract(run.raw_path, '(?:^|/)SERVE--([^/]+?)(?:-(?:BENCH|WL)--[^/]*)?/', 1), '--')
    ) as server_flags,
    if(
        run.format = 'sglang' and run.random_range_ratio < 1,
        try_cast(round((greatest(floor(run.input_length * run.random_range_ratio), 1) + run.input_length) / 2) as bigint), run.input_length
    ) as input_length,
    if(
        run.format = 'sglang' and run.random_range_ratio < 1,
        try_cast(round((greatest(floor(run.output_length * run.random_range_ratio), 1) + run.output_length) / 2) as bigint), run.output_length
    ) as output_length,
    run.configuration_stated_in as stated_in
from run
left join flag
    on
        flag.run_id = run.run_id
        and flag.artifact_manifest_digest = run.artifact_manifest_digest
