/*
description: >
  One row per run, bundle and file of what was sampled or timed while the run ran, in the bundle that states the run: the first time and the
  last, on a clock whose zone is stated.
grain: [run_id, artifact_manifest_digest, raw_path]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle that states it", tests: [not_null]}
  raw_path: {type: varchar, description: "The file", tests: [not_null]}
  what: {type: varchar, description: "samples or requests", tests: [not_null]}
  is_from_start: {type: boolean, description: "Whether sampling began with the run, as that of wh record does", tests: [not_null]}
  first_at: {type: timestamptz, unit: UTC, description: "The first of them", tests: [not_null]}
  last_at: {type: timestamptz, unit: UTC, description: "The last of them", tests: [not_null]}
*/
with sampled as (
    select
        run_id,
        artifact_manifest_digest,
        raw_path,
        'samples' as what,
        true as is_from_start,
        window_start as first_at,
        coalesce(window_end, window_start) as last_at
    from recorded_host_sample
    where window_start is not null
    union all
    select
        run_id,
        artifact_manifest_digest,
        raw_path,
        'samples' as what,
        source = 'recorded_run' as is_from_start,
        first_at,
        last_at
    from telemetry_place
    where
        run_id is not null
        and clock = 'stated'
        and first_at is not null
    union all
    select
        run_id,
        artifact_manifest_digest,
        raw_path,
        'requests' as what,
        false as is_from_start,
        to_timestamp(start_time_s) as first_at,
        to_timestamp(start_time_s) as last_at
    from guidellm_request
    where start_time_s between 1 and 253402300799  -- the end of the year 9999: beyond is no time
)

select
    run_id,
    artifact_manifest_digest,
    raw_path,
    min(what) as what,
    bool_and(is_from_start) as is_from_start,
    min(first_at) as first_at,
    max(last_at) as last_at
from sampled
group by
    run_id,
    artifact_manifest_digest,
    raw_path
