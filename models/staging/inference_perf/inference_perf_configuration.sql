/*
description: >
  One row per run with manifests, or with a configuration that asks for lengths: the arguments of the servers that
  request accelerators, and the means of the input and output distributions.
grain: [run_id, artifact_manifest_digest]
feeds: serving_configuration
*/
with server as (
    select
        run_id,
        artifact_manifest_digest,
        string_agg(distinct arguments, ' ; ' order by arguments) as server_flags
    from inference_perf_server
    group by
        run_id,
        artifact_manifest_digest
),

asked as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        server.server_flags,
        try_cast(try_cast(json_extract_string(run.workload_document, '$.config."data/input_distribution/mean"') as double) as bigint) as input_length,
        try_cast(try_cast(json_extract_string(run.workload_document, '$.config."data/output_distribution/mean"') as double) as bigint) as output_length
    from inference_perf_run as run
    left join server
        on
            server.run_id = run.run_id
            and server.artifact_manifest_digest = run.artifact_manifest_digest
)

select
    run_id,
    artifact_manifest_digest,
    server_flags,
    input_length,
    output_length,
    nullif(concat_ws(
        ', ', case when server_flags is not null then 'manifest' end,
        case when coalesce(input_length, output_length) is not null then 'configuration' end
    ), '') as stated_in
from asked
where coalesce(server_flags, input_length::varchar, output_length::varchar) is not null
