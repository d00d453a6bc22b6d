/*
description: >
  One row per value of a client's record: a file to which the client appends states its earlier records again. What the
  requests add up to is stated too, so that edited requests are noticed.
grain: [run_id, artifact_manifest_digest, name]
feeds: run_statement
*/
select
    run_id,
    artifact_manifest_digest,
    min(raw_path) as raw_path,
    source || ' ' || key as name,
    string_agg(distinct value, ' | ' order by value) as value
from bench_serving_entry
group by
    run_id,
    artifact_manifest_digest,
    source,
    key
