/*
description: >
  One row per run: the lengths that its configuration asked for (genai-perf writes -1 for none). How the model was
  served is stated only by a record of InferenceX that restates the run, not by genai-perf or AIPerf. What that record
  states besides sizes are flags, as of a record alone.
grain: [run_id, artifact_manifest_digest]
feeds: serving_configuration
*/
with asked as (
    select
        run_id,
        artifact_manifest_digest,
        case when json_extract_string(workload_document, '$.isl') not like '-%' then try_cast(json_extract_string(workload_document, '$.isl') as bigint) end as input_length,
        case when json_extract_string(workload_document, '$.osl') not like '-%' then try_cast(json_extract_string(workload_document, '$.osl') as bigint) end as output_length
    from genai_perf_run
)

select
    asked.run_id,
    asked.artifact_manifest_digest,
    case when served.split_deployment is null then served.tensor_parallel end as tensor_parallel_size,
    case when served.split_deployment is null then served.pipeline_parallel end as pipeline_parallel_size,
    case when served.split_deployment is null then served.expert_parallel end as expert_parallel_size,
    case when served.split_deployment is null then served.data_parallel end as data_parallel_size,
    served.prefill_accelerator,
    served.decode_accelerator,
    served.prefill_accelerator_count,
    served.decode_accelerator_count,
    served.precision,
    nullif(concat_ws(
        ' ',
        case when lower(served.disaggregation) not in ('', 'false', 'none') then '--disagg=' || lower(served.disaggregation) end,
        case when lower(served.dp_attention) not in ('', 'false', 'none') then '--dp-attention=' || lower(served.dp_attention) end,
        case when lower(served.kv_offloading) not in ('', 'false', 'none') then '--kv-offloading=' || served.kv_offloading end,
        case when lower(served.spec_decoding) not in ('', 'false', 'none') then '--spec-decoding=' || served.spec_decoding end
    ), '') as server_flags,
    asked.input_length,
    asked.output_length,
    case when served.run_id is null then 'configuration' else 'configuration, record' end as stated_in
from asked
left join genai_perf_deployment as served
    on
        served.run_id = asked.run_id
        and served.artifact_manifest_digest = asked.artifact_manifest_digest
where
    asked.input_length is not null
    or asked.output_length is not null
    or served.run_id is not null
