/*
description: >
  One row per value of a trial. An export made while its study was running states a trial's state and end later.
grain: [run_id, artifact_manifest_digest, name]
feeds: run_statement
*/
select
    run_id,
    artifact_manifest_digest,
    min(raw_path) as raw_path,
    kind || ' ' || key as name,
    string_agg(distinct value_text, ' | ' order by value_text) as value
from akamas_value
group by
    run_id,
    artifact_manifest_digest,
    kind,
    key
union all
select
    run_id,
    artifact_manifest_digest,
    raw_path,
    'trial' as name,
    if(
        state in ('FINISHED', 'ERROR', 'FAILED', 'ABORTED'),
        concat_ws(' ', state, 'from ' || epoch_us(started_at), 'to ' || epoch_us(ended_at), 'score ' || score), null
    ) as value
from akamas_trial
