/*
description: One row per Akamas study, from its first trial to the end of its last.
grain: [campaign_key, artifact_manifest_digest]
feeds: campaign
*/
select
    'akamas/' || study_id as campaign_key,
    artifact_manifest_digest,
    min(raw_path) as raw_path,
    min(study_name) as name,
    'akamas_study' as kind,
    min(started_at) as started_at,
    max(ended_at) as ended_at,
    true as is_zone_assumed,
    to_json({goal: min(workload_document ->> '$.goal')})::varchar as parameters
from akamas_trial
group by
    study_id,
    artifact_manifest_digest
