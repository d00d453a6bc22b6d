/*
description: >
  One row per run that states another time than what was sampled or timed while it ran: it starts after the last of its own samples or requests, or
  ends before the first; or it starts before the first where sampling began with the run. A minute is allowed for clocks that were set meanwhile.
feeds: issue
*/
with stated as (
    select
        run_id,
        artifact_manifest_digest,
        started_at,
        coalesce(ended_at, started_at + to_microseconds(try_cast(round(duration_s * 1e6) as bigint))) as ended_at
    from stated_run
    where
        started_at is not null
        and is_zone_assumed is not true
)

select
    sampled.artifact_manifest_digest,
    sampled.raw_path,
    0::bigint as raw_offset,
    0::bigint as raw_length,
    'warning' as severity,
    'start-not-sampled' as code,
    concat(
        'the run states that it started at ', strftime(stated.started_at, '%Y-%m-%dT%H:%M:%SZ'), ', and its own ', sampled.what, ' are from ',
        strftime(sampled.first_at, '%Y-%m-%dT%H:%M:%SZ'), ' to ', strftime(sampled.last_at, '%Y-%m-%dT%H:%M:%SZ')
    ) as message,
    null::bigint as line_number,
    sampled.run_id
from run_sampled as sampled
inner join stated
    on
        stated.run_id = sampled.run_id
        and stated.artifact_manifest_digest = sampled.artifact_manifest_digest
where
    stated.started_at > sampled.last_at + interval 1 minute
    or stated.ended_at < sampled.first_at - interval 1 minute
    or sampled.is_from_start and stated.started_at < sampled.first_at - interval 1 minute
qualify sampled.raw_path = min(sampled.raw_path) over (partition by sampled.run_id, sampled.artifact_manifest_digest)
