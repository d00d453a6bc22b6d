/*
description: >
  One row per file of results that InferenceX stated a deployment beside: how the model was served.
grain: [run_id, artifact_manifest_digest]
feeds: serving_configuration
*/
select
    run_id,
    artifact_manifest_digest,
    case when split_deployment is null then tensor_parallel end as tensor_parallel_size,
    case when split_deployment is null then pipeline_parallel end as pipeline_parallel_size,
    case when split_deployment is null then expert_parallel end as expert_parallel_size,
    case when split_deployment is null then data_parallel end as data_parallel_size,
    precision,
    nullif(concat_ws(
        ' ',
        case when lower(disaggregation) not in ('', 'false', 'none') then '--disagg=' || lower(disaggregation) end,
        case when lower(dp_attention) not in ('', 'false', 'none') then '--dp-attention=' || lower(dp_attention) end,
        case when lower(kv_offloading) not in ('', 'false', 'none') then '--kv-offloading=' || kv_offloading end,
        case when lower(spec_decoding) not in ('', 'false', 'none') then '--spec-decoding=' || spec_decoding end
    ), '') as server_flags,
    'record' as stated_in
from lm_eval_deployment
