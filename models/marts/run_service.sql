/*
description: >
  One row per run in a pod of a service of KServe: how it was served. A run names its pod, and the pod's labels name the service. A run of
  which only the client is known is not here, because nothing says which service answered it.
grain: [run_id]
columns:
  run_id: {tests: [not_null, unique]}
  service: {tests: [not_null]}
  kind: {tests: [not_null]}
*/
with pod as (
    select distinct
        pod_uid,
        namespace,
        service_name
    from scheduler_allocation
    where service_name is not null
),

named as (
    select
        namespace,
        name,
        min(service) as service
    from kserve_service_state
    group by
        namespace,
        name
    having count(*) = 1
)

select
    run.run_id,
    state.service,
    state.kind,
    state.name,
    state.namespace,
    state.serving_path,
    state.runtime,
    state.model_format,
    state.model_uri,
    state.min_replicas,
    state.max_replicas,
    state.tensor_parallel_size,
    state.pipeline_parallel_size,
    state.data_parallel_size,
    state.is_expert_parallel,
    state.is_disaggregated,
    state.is_ready,
    state.url
from benchmark_run_fact as run
inner join pod
    on pod.pod_uid = run.pod_uid
inner join named
    on
        named.name = pod.service_name
        and named.namespace is not distinct from pod.namespace
inner join kserve_service_state as state
    on state.service = named.service
