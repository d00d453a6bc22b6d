/*
description: >
  One row per report: the workload it asked for, and how the engines were split over accelerators.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    json_extract_string(workload_document, '$.model') as model,
    json_extract_string(workload_document, '$.precision') as precision,
    json_extract_string(workload_document, '$.load."standardized/input_seq_len/distribution"') as prompt_distribution,
    json_extract_string(workload_document, '$.load."standardized/output_seq_len/distribution"') as completion_distribution
from llm_d_report_run
