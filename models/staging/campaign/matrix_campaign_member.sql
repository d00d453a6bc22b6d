/*
description: >
  One row per run of a campaign of wh matrix that is not a warm-up. Of a slot that was run again after a crash, the last attempt.
grain: [campaign_key, member, artifact_manifest_digest]
feeds: campaign_member
*/
select
    'matrix/' || slot.campaign as campaign_key,
    campaign.artifact_manifest_digest,
    slot.slot as member,
    slot.run_id,
    slot.stack_digest as stack_key,
    slot.raw_path as stated_in
from recorded_slot as slot
inner join matrix_campaign as campaign
    on campaign.campaign_id = slot.campaign
where not slot.is_warmup
qualify row_number() over (
    partition by campaign.artifact_manifest_digest, slot.campaign, slot.slot
    order by slot.attempt desc, slot.run_id desc, slot.artifact_manifest_digest
) = 1
