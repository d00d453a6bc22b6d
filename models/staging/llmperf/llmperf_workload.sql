/*
description: >
  One row per run: the workload that it was asked to run. The columns are read from the frozen document itself.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    json_extract_string(workload_document, '$.model') as model,
    try_cast(json_extract_string(workload_document, '$.num_concurrent_requests') as bigint) as concurrency_point,
    'mean ' || json_extract_string(workload_document, '$.mean_input_tokens')
    || ' stddev ' || json_extract_string(workload_document, '$.stddev_input_tokens') as prompt_distribution,
    'mean ' || json_extract_string(workload_document, '$.mean_output_tokens')
    || ' stddev ' || json_extract_string(workload_document, '$.stddev_output_tokens') as completion_distribution
from llmperf_run
