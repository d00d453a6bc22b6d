/*
description: >
  One row per report that describes engines: their software. The version is NULL if it differs between the engines of
  the stack.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run_id,
    artifact_manifest_digest,
    case when count(distinct tool) = 1 then lower(min(tool)) end as framework,
    case
        when count(distinct tool_version) = 1
            then coalesce(nullif(regexp_extract(min(tool_version), '/.*:v?([0-9][^:/@]*)', 1), ''), min(tool_version))
    end as framework_version,
    case when count(distinct tool_version) = 1 and min(tool_version) like '%/%' then min(tool_version) end as server_version,
    nullif(
        string_agg(
            distinct coalesce(tool, '') || ' ' || coalesce(tool_version, ''), ', '
            order by coalesce(tool, '') || ' ' || coalesce(tool_version, '')
        ), ' '
    ) as software_stack
from llm_d_report_engine
group by
    run_id,
    artifact_manifest_digest
