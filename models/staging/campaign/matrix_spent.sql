/*
description: One row per campaign of wh matrix, what its runs took, warm-up runs and those that were run again among them.
grain: [campaign_key]
columns:
  campaign_key: {type: varchar, description: "The campaign, as in campaign_dim", tests: [not_null]}
  run_count: {type: bigint, description: "Recorded runs", tests: [not_null]}
  run_s: {type: double, unit: s, description: "Their time in all; NULL: no run states it"}
*/
select
    'matrix/' || slot.campaign as campaign_key,
    count(*) as run_count,
    sum(run.wall_s) as run_s
from recorded_slot as slot
inner join recorded_run as run
    on
        run.run_id = slot.run_id
        and run.artifact_manifest_digest = slot.artifact_manifest_digest
where slot.campaign is not null
group by slot.campaign
