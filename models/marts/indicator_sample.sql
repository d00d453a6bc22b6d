/*
description: >
  One row per sample of a metric that a run of a described format states: the repeats inside one run, in the order of the file. They are no
  repeats of the run.
grain: [run_id, key, sample]
columns:
  run_id: {type: varchar, description: "The run"}
  indicator: {type: varchar, description: "What measured"}
  key: {type: varchar, description: "The metric, as in performance_indicator_fact"}
  sample: {type: bigint, description: "Its place among the samples of the metric, from 1"}
  value: {type: double, description: "The value in its unit"}
  unit: {type: varchar, description: "Unit; NULL: dimensionless"}
*/
select
    value.run_id,
    run.benchmark_case_id as indicator,
    value.key,
    value.sample,
    value.value_number as value,
    value.unit
from described_value as value
inner join described_run as run
    on
        run.run_id = value.run_id
        and run.artifact_manifest_digest = value.artifact_manifest_digest
inner join run_bundle
    on
        run_bundle.run_id = value.run_id
        and run_bundle.artifact_manifest_digest = value.artifact_manifest_digest
where
    value.kind = 'result'
    and value.value_number is not null
