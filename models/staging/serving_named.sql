/*
description: >
  One row per run of a serving benchmark: what the names in its path tell of how the model was served. Tools other than vLLM's client,
  whose ingestor reads them itself, state none of it, or only a part.
grain: [run_id, artifact_manifest_digest]
collects: serving_named
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  framework: {type: varchar, description: "Serving software, as a name states it"}
  system_name: {type: varchar, description: "The system, as a name states it"}
  accelerator: {type: varchar, description: "The accelerator, as a name states it"}
  accelerator_count: {type: bigint, description: "Accelerators, as a name states it"}
  tensor_parallel: {type: bigint, description: "Tensor-parallel size, as a name states it"}
  data_parallel: {type: bigint, description: "Data-parallel size, as a name states it"}
  pipeline_parallel: {type: bigint, description: "Pipeline-parallel size, as a name states it"}
  expert_parallel: {type: bigint, description: "Expert-parallel size, as a name states it"}
  topology: {type: varchar, description: "Split of prefill and decode, nodes or replicas, as a name states it"}
  precision: {type: varchar, description: "Precision, as a name states it"}
  deployment_model: {type: varchar, description: "Topology and sizes in one text", feed: false}
*/
select
    *,
    nullif(concat_ws(
        ' ', topology, 'TP' || tensor_parallel, 'DP' || data_parallel, 'PP' || pipeline_parallel, 'EP' || expert_parallel
    ), '') as deployment_model
from feed.serving_named
