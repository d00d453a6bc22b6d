/*
description: One row per job of a scheduler of which a wait would be negative, as an issue of its evidence.
feeds: issue
*/
select
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length,
    'warning' as severity,
    'negative-wait' as code,
    concat(scheduler, ' job ', scheduler_run_id, ': a wait would be negative, and is NULL') as message,
    null::bigint as line_number,
    null::varchar as run_id
from scheduler_job_fact
where has_negative_wait
