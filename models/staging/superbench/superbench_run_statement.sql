/*
description: >
  One row per value of a node's results or a monitor's samples. A monitor appends to its file.
grain: [run_id, artifact_manifest_digest, name]
feeds: run_statement
*/
select
    run_id,
    artifact_manifest_digest,
    min(raw_path) as raw_path,
    key as name,
    string_agg(distinct value_text, ' | ' order by value_text) as value
from superbench_metric
group by
    run_id,
    artifact_manifest_digest,
    key
union all
select
    run_id,
    artifact_manifest_digest,
    min(raw_path) as raw_path,
    concat_ws(' ', 'line', line_number, key, gpu) as name,
    string_agg(distinct value_number::varchar, ' | ' order by value_number::varchar) as value
from superbench_sample
group by
    run_id,
    artifact_manifest_digest,
    line_number,
    key,
    gpu
