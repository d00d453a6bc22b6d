/*
description: >
  One row per trial and parameter, aggregate of a metric, or score. Aggregates are in the unit of the study's query,
  which is not stated here.
grain: [run_id, artifact_manifest_digest, kind, key]
feeds: performance_indicator
*/
select
    value.run_id,
    value.artifact_manifest_digest,
    'akamas' as indicator,
    'akamas' as component,
    if(regexp_matches(value.key, '/(sum|sumOfSquares|variance)$'), 'other', value.kind) as kind,
    value.key,
    if(value.value_number is null, 'string', 'number') as value_type,
    value.value_text,
    value.value_number
from akamas_value as value
union all
select
    run_id,
    artifact_manifest_digest,
    'akamas' as indicator,
    'akamas' as component,
    'score' as kind,
    'score' as key,
    'number' as value_type,
    score::varchar as value_text,
    score as value_number
from akamas_trial
where score is not null
