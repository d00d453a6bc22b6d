/*
description: >
  One row per service of KServe, from its newest snapshot: how it serves which model, and whether it was ready. What a runtime or base
  configuration adds is not stated by the object, and is NULL.
grain: [service]
columns:
  service: {type: varchar, description: "Its uid, or kind/namespace/name of one without", tests: [not_null, unique]}
  kind: {type: varchar, description: "InferenceService, LLMInferenceService", tests: [not_null]}
  name: {type: varchar, description: "Name"}
  namespace: {type: varchar, description: "Namespace"}
  serving_path: {type: varchar, description: "How it is served: kserve-knative, kserve-standard, kserve-modelmesh, kserve-llm; NULL: the object does not state its mode"}
  runtime: {type: varchar, description: "ServingRuntime"}
  model_format: {type: varchar, description: "Format of the model"}
  model_uri: {type: varchar, description: "Where the model comes from"}
  model_name: {type: varchar, description: "Name under which it is served"}
  min_replicas: {type: bigint, description: "Fewest replicas"}
  max_replicas: {type: bigint, description: "Most replicas"}
  tensor_parallel_size: {type: bigint, description: "Tensor parallelism"}
  pipeline_parallel_size: {type: bigint, description: "Pipeline parallelism"}
  data_parallel_size: {type: bigint, description: "Data parallelism"}
  is_expert_parallel: {type: boolean, description: "Whether experts are parallel"}
  is_disaggregated: {type: boolean, description: "Whether prefill is served apart"}
  prefill_replicas: {type: bigint, description: "Replicas of prefill"}
  gpu_count: {type: bigint, description: "GPUs that a replica asks for"}
  url: {type: varchar, description: "Where it answers"}
  is_ready: {type: boolean, description: "Whether it was ready; NULL: not stated"}
  ready_since: {type: timestamptz, unit: UTC, description: "Since when it has been so"}
  not_ready_reason: {type: varchar, description: "Why it was not ready"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where in it", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long", tests: [not_null]}
*/
select
    coalesce(service.uid, concat_ws('/', service.kind, service.namespace, service.name), service.raw_path || ':' || service.raw_offset) as service,
    service.kind,
    service.name,
    service.namespace,
    case
        when service.kind = 'LLMInferenceService' then 'kserve-llm'
        when service.deployment_mode in ('Serverless', 'Knative') then 'kserve-knative'
        when service.deployment_mode in ('RawDeployment', 'Standard') then 'kserve-standard'
        when service.deployment_mode = 'ModelMesh' then 'kserve-modelmesh'
    end as serving_path,
    service.runtime,
    service.model_format,
    service.model_uri,
    service.model_name,
    service.min_replicas,
    service.max_replicas,
    service.tensor_parallel_size,
    service.pipeline_parallel_size,
    service.data_parallel_size,
    service.is_expert_parallel,
    service.is_disaggregated,
    service.prefill_replicas,
    service.gpu_count,
    service.url,
    case ready.status when 'True' then true when 'False' then false end as is_ready,
    ready.transition_at as ready_since,
    case when ready.status <> 'True' then concat_ws(': ', ready.reason, ready.message) end as not_ready_reason,
    service.artifact_manifest_digest,
    service.raw_path,
    service.raw_offset,
    service.raw_length
from kserve_service as service
left join kserve_condition_entry as ready
    on
        ready.artifact_manifest_digest = service.artifact_manifest_digest
        and ready.raw_path = service.raw_path
        and ready.raw_offset = service.raw_offset
        and ready.type = 'Ready'
qualify
    row_number() over (
        partition by coalesce(service.uid, concat_ws('/', service.kind, service.namespace, service.name), service.raw_path || ':' || service.raw_offset)
        order by
            try_cast(service.resource_version as hugeint) desc nulls last,
            service.artifact_manifest_digest,
            service.raw_path,
            service.raw_offset,
            ready.position desc nulls last
    ) = 1
