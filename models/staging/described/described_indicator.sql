/*
description: >
  One row per parameter, and per metric with a value, of a run of a described format. The value of several samples is what
  the description says: their median, smallest or largest. mart.indicator_sample has each of them.
grain: [run_id, artifact_manifest_digest, kind, key]
feeds: performance_indicator
*/
select
    value.run_id,
    value.artifact_manifest_digest,
    min(run.benchmark_case_id) as indicator,
    min(run.component) as component,
    value.kind,
    value.key,
    case when count(value.value_number) > 0 then 'number' else min(value.value_type) end as value_type,
    case when count(*) = 1 then min(value.value_text) end as value_text,
    case min(value.summary)
        when 'min' then min(value.value_number)
        when 'max' then max(value.value_number)
        else median(value.value_number)
    end as value_number,
    min(value.unit) as unit,
    min(value.better) as better
from described_value as value
inner join described_run as run
    on
        run.run_id = value.run_id
        and run.artifact_manifest_digest = value.artifact_manifest_digest
where value.kind in ('parameter', 'result')
group by
    value.run_id,
    value.artifact_manifest_digest,
    value.kind,
    value.key
