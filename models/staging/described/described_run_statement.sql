/*
description: >
  One row per value of a run of a described format: a file that grows states its earlier runs again. A number is the same
  number in every notation.
grain: [run_id, artifact_manifest_digest, name]
feeds: run_statement
*/
select
    run_id,
    artifact_manifest_digest,
    min(raw_path) as raw_path,
    kind || ' ' || key as name,
    string_agg(coalesce(value_number::varchar, value_text), ' | ' order by sample) as value
from described_value
group by
    run_id,
    artifact_manifest_digest,
    kind,
    key
