/*
description: >
  One row per run and parameter that its log states: the seed, batch sizes, the optimiser's settings.
grain: [run_id, artifact_manifest_digest, kind, key]
feeds: performance_indicator
*/
select
    statement.run_id,
    statement.artifact_manifest_digest,
    'mlperf_training' as indicator,
    run.benchmark as component,
    'parameter' as kind,
    statement.key,
    case when statement.value_number is null then 'string' else 'number' end as value_type,
    statement.value as value_text,
    statement.value_number
from mlperf_training_statement as statement
inner join mlperf_training_run as run
    on
        run.run_id = statement.run_id
        and run.artifact_manifest_digest = statement.artifact_manifest_digest
where statement.key not like 'submission%'
