select
    r.run_id,
    r.host_id,
    r.suite_id,
    r.commit_id,
    r.started_at,
    r.day,
    r.duration_s,
    r.status = 'ok' as passed
from stg_run as r
