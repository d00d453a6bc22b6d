/*
description: >
  One row per line of a result file, which a copy made during the run has fewer of, and per value of the documents beside it,
  whose notes submitters edit.
grain: [run_id, artifact_manifest_digest, name]
feeds: run_statement
*/
select
    run_id,
    artifact_manifest_digest,
    raw_path,
    'line ' || line_number as name,
    concat_ws(' ', time_ms, event_type, key, value) as value
from mlperf_training_event
union all
select
    run.run_id,
    entry.artifact_manifest_digest,
    min(entry.raw_path) as raw_path,
    entry.source || ' ' || entry.key as name,
    string_agg(distinct entry.value, ' | ' order by entry.value) as value
from mlperf_training_entry as entry
inner join mlperf_training_run as run
    on run.artifact_manifest_digest = entry.artifact_manifest_digest
group by
    run.run_id,
    entry.artifact_manifest_digest,
    entry.source,
    entry.key
