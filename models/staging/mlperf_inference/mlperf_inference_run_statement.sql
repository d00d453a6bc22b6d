/*
description: >
  One row per value of the documents that describe a run's system and measurements, whose notes submitters edit. Logs
  are compared by their bytes.
grain: [run_id, artifact_manifest_digest, name]
feeds: run_statement
*/
select
    run.run_id,
    entry.artifact_manifest_digest,
    min(entry.raw_path) as raw_path,
    entry.source || ' ' || entry.key as name,
    string_agg(distinct entry.value, ' | ' order by entry.value) as value
from mlperf_inference_entry as entry
inner join mlperf_inference_run as run
    on run.artifact_manifest_digest = entry.artifact_manifest_digest
where entry.run_id is null
group by
    run.run_id,
    entry.artifact_manifest_digest,
    entry.source,
    entry.key
