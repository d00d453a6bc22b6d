/*
description: >
  One row per report that describes engines: how they were started. A size is NULL if it differs between prefill and
  decode, or between engines of one role.
grain: [run_id, artifact_manifest_digest]
feeds: serving_configuration
*/
with engine as (
    select
        run_id,
        artifact_manifest_digest,
        case when count(distinct tensor_parallel) = 1 then min(tensor_parallel) end as tensor_parallel_size,
        case when count(distinct pipeline_parallel) = 1 then min(pipeline_parallel) end as pipeline_parallel_size,
        case when count(distinct expert_parallel) = 1 then min(expert_parallel) end as expert_parallel_size,
        case when count(distinct data_parallel) = 1 then min(data_parallel) end as data_parallel_size,
        case when count(distinct quantization) = 1 then min(quantization) end as precision,
        bool_and(lower(role) in ('prefill', 'decode')) and count(*) = count(role) and count(distinct lower(role)) = 2 as is_split,
        case
            when count(distinct accelerator) filter (where lower(role) = 'prefill') = 1 then min(accelerator) filter (where lower(role) = 'prefill')
        end as prefill_accelerator,
        case
            when count(distinct accelerator) filter (where lower(role) = 'decode') = 1 then min(accelerator) filter (where lower(role) = 'decode')
        end as decode_accelerator,
        case
            when count(*) = count(accelerator_count::hugeint * replicas)
                then try_cast(sum(accelerator_count::hugeint * replicas) filter (where lower(role) = 'prefill') as bigint)
        end as prefill_accelerator_count,
        case
            when count(*) = count(accelerator_count::hugeint * replicas)
                then try_cast(sum(accelerator_count::hugeint * replicas) filter (where lower(role) = 'decode') as bigint)
        end as decode_accelerator_count,
        string_agg(distinct arguments, ' ; ' order by arguments) as server_flags
    from llm_d_report_engine
    group by
        run_id,
        artifact_manifest_digest
),

asked as (
    select
        run_id,
        artifact_manifest_digest,
        try_cast(max(value_number) filter (where key = 'scenario/load/standardized/input_seq_len/value') as bigint) as input_length,
        try_cast(max(value_number) filter (where key = 'scenario/load/standardized/output_seq_len/value') as bigint) as output_length
    from llm_d_report_entry
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    run.artifact_manifest_digest,
    engine.tensor_parallel_size,
    engine.pipeline_parallel_size,
    engine.expert_parallel_size,
    engine.data_parallel_size,
    case when engine.is_split and engine.prefill_accelerator <> engine.decode_accelerator then engine.prefill_accelerator end as prefill_accelerator,
    case when engine.is_split and engine.prefill_accelerator <> engine.decode_accelerator then engine.decode_accelerator end as decode_accelerator,
    case when engine.is_split then engine.prefill_accelerator_count end as prefill_accelerator_count,
    case when engine.is_split then engine.decode_accelerator_count end as decode_accelerator_count,
    engine.precision,
    engine.server_flags,
    asked.input_length,
    asked.output_length,
    'report' as stated_in
from llm_d_report_run as run
left join engine
    on
        engine.run_id = run.run_id
        and engine.artifact_manifest_digest = run.artifact_manifest_digest
left join asked
    on
        asked.run_id = run.run_id
        and asked.artifact_manifest_digest = run.artifact_manifest_digest
