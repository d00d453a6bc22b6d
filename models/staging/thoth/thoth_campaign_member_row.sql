/*
description: >
  One row per campaign of Dependency Monkey and inspection that it reported, scheduled or specified.
grain: [campaign_key, artifact_manifest_digest, member]
feeds: campaign_member
*/
select
    campaign_key,
    artifact_manifest_digest,
    coalesce(inspection_id, member) as member,
    min(inspection_id) as scheduler_run_id,
    min(stack_key) as stack_key,
    min(packages_digest) as packages_digest,
    min(score) as score,
    string_agg(distinct stated_in, ', ' order by stated_in) as stated_in
from thoth_campaign_member
group by
    campaign_key,
    artifact_manifest_digest,
    coalesce(inspection_id, member)
