/*
description: >
  One row per trial of an Akamas study: one configuration, measured once. Trials of one study are of one case; what they
  differ in are their parameters. Times without a zone are UTC.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    run_id,
    'akamas/' || coalesce(study_name, study_id) as benchmark_case_id,
    workload_spec_digest,
    artifact_manifest_digest,
    raw_path as raw_folder,
    raw_offset::varchar || '+' || raw_length::varchar as raw_section,
    'akamas' as family,
    'performance' as mode,
    'exploratory' as intent,
    case state
        when 'FINISHED' then 'succeeded'
        when 'ERROR' then 'failed'
        when 'FAILED' then 'failed'
        when 'ABORTED' then 'interrupted'
        else 'unknown'
    end as status,
    state_message as status_reason,
    started_at,
    ended_at,
    case when started_at is not null then true end as is_zone_assumed
from akamas_trial
