/*
description: >
  One row per campaign of Dependency Monkey, and per folder of specifications that were sent to Amun by hand. Its start is the end less the duration that the report states.
grain: [campaign_key, artifact_manifest_digest]
feeds: campaign
*/
select
    campaign_key,
    artifact_manifest_digest,
    raw_path,
    name,
    kind,
    ended_at - to_microseconds(try_cast(round(duration_s * 1e6) as bigint)) as started_at,
    ended_at,
    is_zone_assumed,
    'thoth-adviser ' || tool_version as tool_version,
    state as status,
    state_reason as status_reason,
    requested_count,
    parameters
from thoth_campaign
