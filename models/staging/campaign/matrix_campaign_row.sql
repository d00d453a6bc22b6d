/*
description: One row per campaign of wh matrix, from its first run to the end of its last.
grain: [campaign_key, artifact_manifest_digest]
feeds: campaign
*/
select
    'matrix/' || campaign.campaign_id as campaign_key,
    campaign.artifact_manifest_digest,
    campaign.raw_path,
    campaign.name,
    'matrix' as kind,
    run.started_at,
    run.ended_at,
    false as is_zone_assumed,
    campaign.spec as parameters,
    -- A search chooses how many as it goes.
    case when campaign.whole_sessions = campaign.sessions then cell.count * campaign.sessions * campaign.repeats end as requested_count
from matrix_campaign as campaign
left join (
    select
        slot.campaign,
        min(run.started_at) as started_at,
        max(run.ended_at) as ended_at
    from recorded_slot as slot
    inner join recorded_run as run
        on
            run.run_id = slot.run_id
            and run.artifact_manifest_digest = slot.artifact_manifest_digest
    group by slot.campaign
) as run
    on run.campaign = campaign.campaign_id
left join (
    select
        artifact_manifest_digest,
        count(*) as count
    from matrix_cell
    group by artifact_manifest_digest
) as cell
    on cell.artifact_manifest_digest = campaign.artifact_manifest_digest
