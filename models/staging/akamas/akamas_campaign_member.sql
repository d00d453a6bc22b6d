/*
description: One row per trial of a study.
grain: [campaign_key, member, artifact_manifest_digest]
feeds: campaign_member
*/
select
    'akamas/' || study_id as campaign_key,
    artifact_manifest_digest,
    experiment || '/' || trial as member,
    run_id,
    raw_path as stated_in
from akamas_trial
