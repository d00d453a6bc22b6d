/*
description: >
  One row per run whose evidence states how the model was served, or which lengths were asked for. A size, a
  quantisation or prefix caching that a feeder does not state is read from the server's flags. Where the evidence describes
  no server, names in the path count. What is not stated is NULL, even if the server has a default. A value that differs between the servers of a run is NULL, too.
materialized: incremental
key: [run_id]
grain: [run_id]
collects: serving_configuration
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  tensor_parallel_size: {type: bigint, description: "Tensor-parallel size of one replica"}
  pipeline_parallel_size: {type: bigint, description: "Pipeline-parallel size"}
  expert_parallel_size: {type: bigint, description: "Expert-parallel size"}
  data_parallel_size: {type: bigint, description: "Data-parallel size, as the server counts it"}
  prefill_accelerator: {type: varchar, description: "Accelerator that prefills, as written, where prefill and decode have different ones"}
  decode_accelerator: {type: varchar, description: "Accelerator that decodes, as written, where prefill and decode have different ones"}
  prefill_accelerator_count: {type: bigint, description: "Accelerators that prefill, where prefill and decode are split; NULL: not split, or not known"}
  decode_accelerator_count: {type: bigint, description: "Accelerators that decode, where prefill and decode are split; NULL: not split, or not known"}
  precision: {type: varchar, description: "Quantisation of the served weights, or else their data type, lower case, as stated"}
  is_prefix_caching_enabled: {type: boolean, description: "Whether the server was configured to cache prefixes, or reports that it does; NULL: not stated"}
  server_flags: {type: varchar, description: "The server's arguments as --name=value, without those that are off, and secrets; those of several servers are separated by ' ; '"}
  input_length: {type: bigint, unit: tokens, description: "Input tokens asked for in a request; their mean where a distribution was asked for"}
  output_length: {type: bigint, unit: tokens, description: "Output tokens asked for in a request; their mean where a distribution was asked for"}
  stated_in: {type: varchar, description: "Where it is stated: record, console, name, manifest, report, configuration"}
*/
with fed as (
    select *
    from feed.serving_configuration
    union all by name
    select
        named.run_id,
        named.artifact_manifest_digest
    from serving_named as named
    left join feed.serving_configuration as fed
        on
            fed.run_id = named.run_id
            and fed.artifact_manifest_digest = named.artifact_manifest_digest
    where
        fed.run_id is null
        and coalesce(named.deployment_model, named.precision) is not null
),

described as (
    select
        fed.*,
        coalesce(
            fed.tensor_parallel_size::varchar, fed.pipeline_parallel_size::varchar, fed.expert_parallel_size::varchar,
            fed.data_parallel_size::varchar, fed.prefill_accelerator_count::varchar, fed.decode_accelerator_count::varchar, fed.server_flags
        ) is null as is_server_unknown
    from fed
),

configured as (
    select
        described.* exclude (is_server_unknown, stated_in, tensor_parallel_size, pipeline_parallel_size, expert_parallel_size, data_parallel_size),
        if(described.is_server_unknown, named.tensor_parallel, described.tensor_parallel_size) as tensor_parallel_size,
        if(described.is_server_unknown, named.pipeline_parallel, described.pipeline_parallel_size) as pipeline_parallel_size,
        if(described.is_server_unknown, named.expert_parallel, described.expert_parallel_size) as expert_parallel_size,
        if(described.is_server_unknown, named.data_parallel, described.data_parallel_size) as data_parallel_size,
        named.precision as named_precision,
        nullif(concat_ws(
            ', ', described.stated_in,
            if(
                (described.is_server_unknown and named.deployment_model is not null)
                or (described.precision is null and named.precision is not null), 'name', null
            )
        ), '') as stated_in
    from described
    left join serving_named as named
        on
            named.run_id = described.run_id
            and named.artifact_manifest_digest = described.artifact_manifest_digest
),

stated as (
    select
        configuration.* exclude (server_flags),
        regexp_replace(
            configuration.server_flags, '--?[A-Za-z_-]*(api[_-]key|token|password|secret)[= ][^ ]+ ?', '', 'gi'
        ) as server_flags
    from configured as configuration
    inner join run_bundle
        on
            run_bundle.run_id = configuration.run_id
            and run_bundle.artifact_manifest_digest = configuration.artifact_manifest_digest
),

flagged as (
    select
        *,
        list_distinct(
            regexp_extract_all(server_flags, '(?:^| )--?(?:tensor[_-]parallel[_-]size|tp(?:[_-]size)?)[= ]([0-9]+)', 1)
        ) as tensor_parallel_sizes,
        list_distinct(
            regexp_extract_all(server_flags, '(?:^| )--?(?:pipeline[_-]parallel[_-]size|pp(?:[_-]size)?)[= ]([0-9]+)', 1)
        ) as pipeline_parallel_sizes,
        list_distinct(
            regexp_extract_all(server_flags, '(?:^| )--?(?:expert[_-]parallel[_-]size|ep(?:[_-]size)?)[= ]([0-9]+)', 1)
        ) as expert_parallel_sizes,
        list_distinct(
            regexp_extract_all(server_flags, '(?:^| )--?(?:data[_-]parallel[_-]size|dp(?:[_-]size)?)[= ]([0-9]+)', 1)
        ) as data_parallel_sizes,
        list_distinct(regexp_extract_all(lower(server_flags), '(?:^| )--?(?:quantization|q)[= ]([a-z0-9_-]+)', 1)) as quantizations,
        list_distinct(regexp_extract_all(lower(server_flags), '(?:^| )--dtype[= ](?:torch\.)?([a-z0-9_-]+)', 1)) as data_types,
        regexp_matches(
            lower(server_flags),
            '(^| )--(enable[_-]prefix[_-]caching(=true|=1)?|(no[_-]enable[_-]prefix[_-]caching|disable[_-]radix[_-]cache)[= ](false|0))( |$)'
        ) as is_caching,
        regexp_matches(
            lower(server_flags),
            '(^| )--(enable[_-]prefix[_-]caching[= ](false|0)|(no[_-]enable[_-]prefix[_-]caching|disable[_-]radix[_-]cache)(=true|=1)?)( |$)'
        ) as is_not_caching
    from stated
)

select
    run_id,
    artifact_manifest_digest,
    coalesce(
        tensor_parallel_size, case when len(tensor_parallel_sizes) = 1 then try_cast(tensor_parallel_sizes[1] as bigint) end
    ) as tensor_parallel_size,
    coalesce(
        pipeline_parallel_size, case when len(pipeline_parallel_sizes) = 1 then try_cast(pipeline_parallel_sizes[1] as bigint) end
    ) as pipeline_parallel_size,
    coalesce(
        expert_parallel_size, case when len(expert_parallel_sizes) = 1 then try_cast(expert_parallel_sizes[1] as bigint) end
    ) as expert_parallel_size,
    coalesce(
        data_parallel_size, case when len(data_parallel_sizes) = 1 then try_cast(data_parallel_sizes[1] as bigint) end
    ) as data_parallel_size,
    prefill_accelerator,
    decode_accelerator,
    prefill_accelerator_count,
    decode_accelerator_count,
    coalesce(
        lower(precision),
        case when len(quantizations) = 1 then nullif(quantizations[1], 'none') end,
        named_precision,
        case when len(data_types) = 1 then nullif(data_types[1], 'auto') end
    ) as precision,
    coalesce(
        is_prefix_caching_enabled,
        case when is_caching <> is_not_caching then is_caching end
    ) as is_prefix_caching_enabled,
    nullif(trim(server_flags), '') as server_flags,
    input_length,
    output_length,
    stated_in
from flagged
