/*
description: >
  One row per report that asked for synthetic data: the lengths it asked for, as `prompt_tokens=256,output_tokens=128`
  or as JSON. A report does not state how the model was served.
grain: [run_id, artifact_manifest_digest]
feeds: serving_configuration
*/
with asked as (
    select
        run_id,
        artifact_manifest_digest,
        list_distinct(regexp_extract_all(json_extract_string(workload_document, '$.data'), '\bprompt_tokens\W{1,4}([0-9]{1,12})\b', 1)) as inputs,
        list_distinct(regexp_extract_all(json_extract_string(workload_document, '$.data'), '\boutput_tokens\W{1,4}([0-9]{1,12})\b', 1)) as outputs
    from guidellm_run
)

select
    run_id,
    artifact_manifest_digest,
    case when len(inputs) = 1 then try_cast(inputs[1] as bigint) end as input_length,
    case when len(outputs) = 1 then try_cast(outputs[1] as bigint) end as output_length,
    'report' as stated_in
from asked
where
    len(inputs) = 1
    or len(outputs) = 1
